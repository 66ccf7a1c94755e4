import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { endProcesses, saying, temporaryFolder, until } from '../sidecar/sidecar-process.ts';
import { aPubSub, asking, listeningAt, post, pushBody, startDelayer } from './delayer-process.ts';

/** The file of timers under a real process that is killed. */

afterAll(endProcesses);

test('what was acked survives SIGKILL, and is published once it is due', async () => {
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
  const url = await listeningAt(first);
  expect(
    first.lines.find((line) => String(line['message']).includes('stands in for Cloud Tasks')),
  ).toBeDefined();

  const ids = Array.from({ length: 20 }, (_, index) => `${index}`);
  const pushes = ids.map((id) =>
    pushBody({
      id,
      data: `data ${id}`,
      attributes: { ...asking(Number(id) % 2 === 0 ? '100ms' : '3s'), number: id },
    }),
  );
  for (const push of pushes) expect(await post(url, push)).toMatchObject({ status: 204 });
  // Some are due and cannot be published, the others wait: the worst moment for each.
  await first.untilLine(saying('a timer could not be published'));
  first.signal('SIGKILL');
  await first.untilExit();
  expect(pubSub.published).toEqual([]);

  isUp = true;
  const second = startDelayer(variables);
  const urlAgain = await listeningAt(second);
  expect(second.lines.find((line) => line['waiting'] !== undefined)?.['waiting']).toBe(20);
  // Pub/Sub never heard of the ack for these: delivered again, they are no second timers.
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

test('a file that another delayer has is told in words', async () => {
  const variables = {
    DELAYER_PROJECT_ID: 'shop',
    DELAYER_ENGINE: 'timer-file',
    DELAYER_TIMER_FILE: join(await temporaryFolder(), 'timers.db'),
    DELAYER_PUSH_AUTH: 'none',
  };
  await listeningAt(startDelayer(variables));
  const second = startDelayer(variables);
  expect(await second.untilExit()).toEqual({ code: 1, signal: null });
  expect(second.lines.find(saying('failed'))?.['problem']).toMatch(/another process has it open/);
});

test('a port that somebody else has ends it, and it lets go of its timers', async () => {
  const { url } = await aPubSub();
  const variables = {
    DELAYER_PROJECT_ID: 'shop',
    DELAYER_ENGINE: 'timer-file',
    DELAYER_TIMER_FILE: join(await temporaryFolder(), 'timers.db'),
    DELAYER_PUSH_AUTH: 'none',
  };
  const delayer = startDelayer({ ...variables, PORT: new URL(url).port });
  expect(await delayer.untilExit()).toEqual({ code: 1, signal: null });
  expect(delayer.lines.find(saying('failed'))?.['problem']).toMatch(/EADDRINUSE/);
});
