import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EmbeddedStores, startEmbeddedStores } from '../support/embedded-stores.ts';
import { PUBSUB_ABSENCE } from '../support/pubsub.ts';
import { envelopeAt, type Wire } from './envelopes.ts';
import { type PubsubStage, setPubsubStage, withId } from './pubsub-stage.ts';
import {
  nodeRuntime,
  pythonRuntime,
  saying,
  startProcess,
  startSidecar,
  until,
  untilWorking,
} from './sidecar-process.ts';

/** `asya sidecar` as a process on Google's Pub/Sub emulator. */

if (PUBSUB_ABSENCE !== undefined) console.log(`the sidecar on Pub/Sub: skipped, because ${PUBSUB_ABSENCE}`);

const TIMEOUT_MS = 90_000;

describe.skipIf(PUBSUB_ABSENCE !== undefined)('the sidecar on Pub/Sub', { timeout: 2 * TIMEOUT_MS }, () => {
  let stage: PubsubStage;
  beforeAll(async () => {
    stage = await setPubsubStage('x-sink', 'after');
    await Promise.all([
      stage.sidecar('double', { ASYA_RUNTIME_COMMAND: nodeRuntime('behaviours.ts.handle') }),
      stage.sidecar('hasty', {
        ASYA_RUNTIME_COMMAND: pythonRuntime('behaviours.handle'),
        ASYA_RESILIENCY_ACTOR_TIMEOUT: '5s',
        ASYA_RESILIENCY_POLICIES: '{"again":{"maxAttempts":3,"initialDelay":"1s"}}',
        ASYA_RESILIENCY_RULES: '[{"errors":["ValueError"],"policy":"again"}]',
      }),
    ]);
  }, 2 * TIMEOUT_MS);
  afterAll(() => stage.close());

  function atDouble(payload: unknown, next: string[] = []): Wire {
    return envelopeAt('double', payload, { route: { prev: [], curr: 'double', next } });
  }

  test('sends an envelope to the next actor', async () => {
    const sent = atDouble({ value: { n: 1 } }, ['after']);
    await stage.send(sent);
    expect(await stage.next('after', withId(sent.id))).toMatchObject({
      route: { prev: ['double'], curr: 'after', next: [] },
      payload: { n: 1 },
      headers: sent.headers,
      status: { phase: 'pending', actor: 'double' },
    });
  });

  test('sends the items of a fan-out separately, and ends at x-sink', async () => {
    const sent = atDouble({ value: ['a', 'b', 'c'] });
    await stage.send(sent);
    const isOurs = ({ id, parent_id }: Wire) => id === sent.id || parent_id === sent.id;
    const ends = [];
    for (let n = 0; n < 3; n++) ends.push(await stage.next('x-sink', isOurs));
    expect(ends.map(({ payload }) => payload).toSorted()).toEqual(['a', 'b', 'c']);
    for (const { status } of ends) expect(status).toMatchObject({ phase: 'succeeded', reason: 'Completed' });
  });

  test('sends an invalid envelope to x-sink with its whole body', async () => {
    await stage.sendText('double', '{"half":');
    const failed = await stage.next('x-sink', ({ status }) => status?.reason === 'ParseError');
    expect(failed.payload).toEqual({ raw: '{"half":' });
  });

  test('sends an error without a policy to x-sink', async () => {
    const sent = atDouble({ do: 'raise', error: 'ValueError', message: 'no' }, ['after']);
    await stage.send(sent);
    expect(await stage.next('x-sink', withId(sent.id))).toMatchObject({
      payload: sent.payload,
      status: {
        phase: 'failed',
        reason: 'RuntimeError',
        error: { type: expect.stringMatching('ValueError') },
      },
    });
  });

  test('sends a timed-out call to x-sink, and processes the next one', async () => {
    const slow = envelopeAt('hasty', { do: 'sleep', seconds: 60 });
    const quick = envelopeAt('hasty', { value: 1 });
    await stage.send(slow);
    await stage.send(quick);
    expect(await stage.next('x-sink', withId(slow.id))).toMatchObject({
      status: { phase: 'failed', reason: 'ActorTimeout' },
    });
    expect(await stage.next('x-sink', withId(quick.id))).toMatchObject({ payload: 1 });
  });

  test('sends a retry to x-sink without a delayer', async () => {
    const sent = envelopeAt('hasty', { do: 'raise', error: 'ValueError', message: 'no' });
    await stage.send(sent);
    expect(await stage.next('x-sink', withId(sent.id))).toMatchObject({
      payload: sent.payload,
      status: {
        max_attempts: 3,
        phase: 'failed',
        reason: 'RuntimeError',
        error: { type: expect.stringMatching('ValueError') },
      },
    });
  });

  test('creates a missing queue and its dead-letter queue with ASYA_QUEUE_AUTO_CREATE', async () => {
    const sidecar = startSidecar(
      stage.variables('made-late', {
        ASYA_RUNTIME_COMMAND: nodeRuntime('behaviours.ts.handle'),
        ASYA_QUEUE_AUTO_CREATE: 'true',
      }),
    );
    await untilWorking(sidecar);
    const { publisher } = stage.client;
    await until(
      async () => (await publisher.subscription('made-late').exists())[0],
      'the queue exists',
      TIMEOUT_MS,
    );
    expect(await publisher.subscription('made-late-dlq').exists()).toEqual([true]);
    const sent = envelopeAt('made-late', { value: 1 });
    await stage.send(sent);
    await stage.next('x-sink', withId(sent.id));
  });

  test('finishes its deliveries on SIGTERM and leaves the rest in the queue', async () => {
    const variables = {
      ASYA_RUNTIME_COMMAND: nodeRuntime('behaviours.ts.handle'),
      ASYA_LOG_LEVEL: 'debug',
    };
    const first = await stage.sidecar('stopped', variables);
    const slow = envelopeAt('stopped', { do: 'sleep', seconds: 2, value: 'slow' });
    const others = Array.from({ length: 20 }, (_, n) => envelopeAt('stopped', { value: n }));
    await stage.send(slow);
    await first.untilLine(saying('received'), TIMEOUT_MS);
    for (const other of others) await stage.send(other);
    first.signal('SIGTERM');
    expect(await first.untilExit(TIMEOUT_MS)).toEqual({ code: 0, signal: null });
    await stage.sidecar('stopped', variables);
    for (const { id } of [slow, ...others]) await stage.next('x-sink', withId(id));
  });

  describe('a crash loop', () => {
    let stores: EmbeddedStores;
    beforeAll(async () => {
      stores = await startEmbeddedStores();
    }, TIMEOUT_MS);
    afterAll(() => stores.close());

    const FROZEN = [join(import.meta.dirname, 'freeze-at.ts'), 'called'];

    test('one crash: another sidecar gets the redelivery', async () => {
      const variables = stage.doomedVariables('killed', {
        ASYA_RUNTIME_COMMAND: nodeRuntime('behaviours.ts.handle'),
        ASYA_RESILIENCY_ACTOR_TIMEOUT: '1s',
      });
      await stage.createQueue('killed');
      const sent = envelopeAt('killed', { value: 'survives' });
      await stage.send(sent);
      const doomed = startProcess(FROZEN, variables);
      await doomed.untilLine(saying('frozen'), TIMEOUT_MS);
      doomed.signal('SIGKILL');
      // The short actor timeout was only for its lease.
      startSidecar({ ...variables, ASYA_RESILIENCY_ACTOR_TIMEOUT: '30s' });
      expect(await stage.next('x-sink', withId(sent.id))).toMatchObject({
        payload: 'survives',
        status: { phase: 'succeeded', attempt: 1 },
      });
    });

    test('repeated crashes: the message is dead-lettered, and x-dlq archives it', {
      timeout: 480_000,
    }, async () => {
      const variables = stage.doomedVariables('doomed', {
        ASYA_RUNTIME_COMMAND: nodeRuntime('behaviours.ts.handle'),
        ASYA_RESILIENCY_ACTOR_TIMEOUT: '1s',
      });
      await stage.createQueue('doomed');
      const { ASYA_RUNTIME_URL: _none, ...crew } = stage.variables('x-dlq', {
        ...stores.variables,
        ASYA_DEAD_LETTERS_OF: 'doomed',
      });
      await untilWorking(startSidecar(crew));
      const sent = envelopeAt('doomed', { value: 'crashes' });
      await stage.send(sent);
      const isOurs = (key: string) => key.startsWith('dlq/') && key.endsWith(`/doomed/${sent.id}.json`);
      const archived = async () => (await stores.keys()).find(isOurs);

      let crashes = 0;
      while ((await archived()) === undefined) {
        const sidecar = startProcess(FROZEN, variables);
        const isFrozen = () => sidecar.lines.some(saying('frozen'));
        await until(
          async () => isFrozen() || (await archived()) !== undefined,
          () => `it is redelivered or archived after ${crashes} crashes:\n${sidecar.output()}`,
          TIMEOUT_MS,
        );
        if (isFrozen()) crashes++;
        sidecar.signal('SIGKILL');
        await sidecar.exited;
        console.log(`${crashes} crashes`);
      }
      // A delivery to a sidecar that has already ended counts too.
      expect(crashes).toBeGreaterThanOrEqual(3);
      expect(crashes).toBeLessThanOrEqual(5);
      expect(JSON.parse(await stores.object((await archived()) ?? ''))).toMatchObject({
        id: sent.id,
        payload: sent.payload,
        status: { phase: 'failed', reason: 'DeliveryExhausted' },
      });
      expect(await stage.take('doomed')).toEqual([]);
    });
  });
});
