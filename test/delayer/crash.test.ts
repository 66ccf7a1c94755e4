import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { endProcesses, saying, temporaryFolder, until } from '../sidecar/sidecar-process.ts';
import { aPubSub, delayAttributes, post, pushBody, startDelayer, urlOf } from './delayer-process.ts';

/** The delayer with a timer file, as a real process that is killed or fails to start. */

afterAll(endProcesses);

test('publishes every acknowledged message once, also after SIGKILL', async () => {
  let isUp = false;
  const pubSub = await aPubSub(() => (isUp ? { status: 200, body: '{}' } : { status: 503, body: 'down' }));
  const variables = {
    DELAYER_PROJECT_ID: 'shop',
    DELAYER_ENGINE: 'timer-file',
    DELAYER_TIMER_FILE: join(await temporaryFolder(), 'timers.db'),
    DELAYER_PUBSUB_ENDPOINT: pubSub.url,
    DELAYER_PUSH_AUTH: 'none',
  };
  const first = startDelayer(variables);
  const url = await urlOf(first);
  expect(first.lines.find((line) => String(line['message']).includes('replaces Cloud Tasks'))).toBeDefined();

  const ids = Array.from({ length: 20 }, (_, index) => `${index}`);
  const pushes = ids.map((id) =>
    pushBody({
      id,
      data: `data ${id}`,
      attributes: { ...delayAttributes(Number(id) % 2 === 0 ? '100ms' : '3s'), number: id },
    }),
  );
  for (const push of pushes) expect(await post(url, push)).toMatchObject({ status: 204 });
  // Half of the messages are due and cannot be published; the others are not due yet.
  await first.untilLine(saying('a timer could not be published'));
  first.signal('SIGKILL');
  await first.untilExit();
  expect(pubSub.published).toEqual([]);

  isUp = true;
  const second = startDelayer(variables);
  const urlAgain = await urlOf(second);
  expect(second.lines.find((line) => line['waiting'] !== undefined)?.['waiting']).toBe(20);
  // As if Pub/Sub had not received the acks: a redelivery does not create a second timer.
  for (const push of pushes.slice(0, 5)) expect(await post(urlAgain, push)).toMatchObject({ status: 204 });
  await until(
    () => pubSub.published.length >= ids.length,
    () => `${pubSub.published.length} published`,
    60_000,
  );
  const numbers = pubSub.published.map(({ attributes }) => attributes['number']);
  expect([...numbers].sort()).toEqual([...ids].sort());
  for (const { topic, data, attributes } of pubSub.published) {
    expect(topic).toBe('orders');
    expect(data).toBe(`data ${attributes['number']}`);
    expect(attributes).toEqual({ number: attributes['number'] });
  }
});

test('fails to start if another delayer has the timer file open', async () => {
  const variables = {
    DELAYER_PROJECT_ID: 'shop',
    DELAYER_ENGINE: 'timer-file',
    DELAYER_TIMER_FILE: join(await temporaryFolder(), 'timers.db'),
    DELAYER_PUSH_AUTH: 'none',
  };
  await urlOf(startDelayer(variables));
  const second = startDelayer(variables);
  expect(await second.untilExit()).toEqual({ code: 1, signal: null });
  expect(second.lines.find(saying('failed to start'))?.['problem']).toMatch(/another process has it open/);
});

test('exits if the port is in use', async () => {
  const { url } = await aPubSub();
  const variables = {
    DELAYER_PROJECT_ID: 'shop',
    DELAYER_ENGINE: 'timer-file',
    DELAYER_TIMER_FILE: join(await temporaryFolder(), 'timers.db'),
    DELAYER_PUSH_AUTH: 'none',
  };
  const delayer = startDelayer({ ...variables, PORT: new URL(url).port });
  expect(await delayer.untilExit()).toEqual({ code: 1, signal: null });
  expect(delayer.lines.find(saying('failed to start'))?.['problem']).toMatch(/EADDRINUSE/);
});
