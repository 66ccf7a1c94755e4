import { describe, expect, it } from 'vitest';
import { ensured } from '../../../lib/ports/transport.ts';
import { aConsumer } from '../a-consumer.ts';

const OTHER_QUEUES = ['store', 'x-sink'];

describe('a missing queue', () => {
  it('is retried after doubling pauses, until the attempts are used up', async () => {
    const { start, clock, transport, elapsedMs, telemetry } = aConsumer({ queues: OTHER_QUEUES });
    const startedAt = clock.now();
    const end = await clock.passUntilSettled(start());
    expect(end).toEqual({
      why: 'queue-missing',
      problem:
        'queue "score" does not exist: not found after 10 attempts; create it, or set ASYA_QUEUE_AUTO_CREATE=true',
    });
    const seconds = transport.operationsOf('receive').map(({ beganAt }) => (beganAt - startedAt) / 1000);
    // Doubling from 1 s, up to 30 s.
    expect(seconds).toEqual([0, 1, 3, 7, 15, 31, 61, 91, 121, 151]);
    expect(elapsedMs()).toBe(151_000);
    expect(telemetry.warnings).toEqual(Array(10).fill('receiving failed'));
    expect(transport.operationsOf('ensureQueue')).toEqual([]);
  });

  it.each([
    [3, 200, [0, 0.2, 0.6]],
    [1, 1_000, [0]],
  ])('is retried %d times from %d ms on, as configured', async (maxAttempts, backoffMs, expected) => {
    const { start, clock, transport } = aConsumer({
      queues: OTHER_QUEUES,
      missingQueue: { maxAttempts, backoffMs },
    });
    const startedAt = clock.now();
    expect(await clock.passUntilSettled(start())).toMatchObject({ why: 'queue-missing' });
    const seconds = transport.operationsOf('receive').map(({ beganAt }) => (beganAt - startedAt) / 1000);
    expect(seconds).toEqual(expected);
  });

  it('resets the attempts once it exists', async () => {
    const { start, stop, put, clock, broker, untilAcked, transport, idsIn } = aConsumer({
      queues: OTHER_QUEUES,
    });
    const working = start();
    await clock.pass(100_000);
    broker.createQueue('score');
    put('e-1');
    await untilAcked(1);
    broker.deleteQueue('score');
    const before = transport.operationsOf('receive').length;
    await clock.pass(100_000);
    expect(transport.operationsOf('receive').length - before).toBeGreaterThan(5);
    broker.createQueue('score');
    put('e-2');
    await untilAcked(2);
    expect(idsIn('store')).toEqual(['e-1', 'e-2']);
    stop.abort();
    expect(await clock.passUntilSettled(working)).toEqual({ why: 'stopped' });
  });

  it('does not count earlier problems of another kind', async () => {
    let left = 20;
    const { start, stop, put, clock, broker, untilAcked } = aConsumer({
      queues: OTHER_QUEUES,
      script: { refuse: ({ what }) => (what === 'receive' && left-- > 0 ? 'unreachable' : undefined) },
    });
    const working = start();
    // The broker is reachable again, and the queue is created before the attempts for a missing queue are used up.
    await clock.passUntil(() => left < 0);
    broker.createQueue('score');
    put('e-1');
    await untilAcked(1);
    stop.abort();
    expect(await clock.passUntilSettled(working)).toEqual({ why: 'stopped' });
  });

  it('lets deliveries in flight finish before the consumer ends', async () => {
    const { start, put, clock, broker, idsIn } = aConsumer({
      concurrency: 2,
      end: async (_id, time) => {
        await time.sleep(250_000);
        return { kind: 'empty' };
      },
    });
    put('e-1');
    const working = start();
    await clock.pass(1_000);
    broker.deleteQueue('score');
    expect(await clock.passUntilSettled(working)).toMatchObject({ why: 'queue-missing' });
    expect(idsIn('x-sink')).toEqual(['e-1']);
  });

  it('does not delay a stop', async () => {
    const { start, stop, clock, elapsedMs } = aConsumer({ queues: OTHER_QUEUES });
    const working = start();
    await clock.pass(20_000);
    stop.abort();
    expect(await clock.passUntilSettled(working)).toEqual({ why: 'stopped' });
    expect(elapsedMs()).toBe(20_000);
  });
});

describe('an unreachable broker', () => {
  it('is retried without limit, at least every 30 s', async () => {
    let isUnreachable = true;
    const { start, stop, put, clock, transport, untilAcked } = aConsumer({
      script: { refuse: ({ what }) => (what === 'receive' && isUnreachable ? 'unreachable' : undefined) },
    });
    const working = start();
    await clock.pass(6 * 3_600_000);
    const times = transport.operationsOf('receive').map(({ beganAt }) => beganAt);
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(pauses.slice(0, 6)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000]);
    expect(Math.max(...pauses)).toBe(30_000);
    isUnreachable = false;
    put('e-1');
    await untilAcked(1);
    stop.abort();
    expect(await clock.passUntilSettled(working)).toEqual({ why: 'stopped' });
  });
});

describe('with ASYA_QUEUE_AUTO_CREATE', () => {
  it('creates the queue before the first receive', async () => {
    const { start, stop, clock, put, transport, untilAcked, broker } = aConsumer({
      queues: OTHER_QUEUES,
      missingQueue: { autoCreate: true },
    });
    const working = start();
    await clock.pass(1);
    expect(transport.operations.map(({ what }) => what)).toEqual(['ensureQueue', 'receive']);
    put('e-1');
    await untilAcked(1);
    expect(broker.bodiesIn('score-dlq')).toEqual([]);
    stop.abort();
    await clock.passUntilSettled(working);
  });

  it('checks the queue every five minutes', async () => {
    const { start, stop, clock, transport } = aConsumer({ missingQueue: { autoCreate: true } });
    const working = start();
    const startedAt = clock.now();
    await clock.pass(16 * 60_000);
    const minutes = transport
      .operationsOf('ensureQueue')
      .map(({ beganAt }) => (beganAt - startedAt) / 60_000);
    expect(minutes).toEqual([0, 5, 10, 15]);
    stop.abort();
    await clock.passUntilSettled(working);
  });

  it('creates a deleted queue again at the next receive', async () => {
    const { start, stop, clock, put, broker, untilAcked, idsIn } = aConsumer({
      missingQueue: { autoCreate: true },
    });
    const working = start();
    await clock.pass(60_000);
    broker.deleteQueue('score');
    await clock.pass(30_000);
    put('e-1');
    await untilAcked(1);
    expect(idsIn('store')).toEqual(['e-1']);
    stop.abort();
    await clock.passUntilSettled(working);
  });

  it('ends after the configured attempts if the queue cannot be created', async () => {
    const { start, clock, transport, telemetry } = aConsumer({
      queues: OTHER_QUEUES,
      missingQueue: { autoCreate: true, maxAttempts: 4 },
      script: { refuse: ({ what }) => (what === 'ensureQueue' ? 'AccessDenied' : undefined) },
    });
    const startedAt = clock.now();
    expect(await clock.passUntilSettled(start())).toEqual({
      why: 'queue-missing',
      problem:
        'queue "score" does not exist: not found after 4 attempts; creating it failed (AccessDenied); create it, or grant the permission to create it',
    });
    const seconds = transport.operationsOf('ensureQueue').map(({ beganAt }) => (beganAt - startedAt) / 1000);
    expect(seconds).toEqual([0, 1, 3, 7]);
    expect(
      telemetry.warnings.filter((what) => what === 'the queue could not be created or checked'),
    ).toHaveLength(4);
  });

  it('consumes an existing queue without permission to create or check it', async () => {
    const { start, stop, clock, put, untilAcked } = aConsumer({
      missingQueue: { autoCreate: true, maxAttempts: 1 },
      script: { refuse: ({ what }) => (what === 'ensureQueue' ? 'AccessDenied' : undefined) },
    });
    const working = start();
    put('e-1');
    await untilAcked(1);
    await clock.pass(3_600_000);
    stop.abort();
    expect(await clock.passUntilSettled(working)).toEqual({ why: 'stopped' });
  });

  it('logs different attributes once, and again when they change', async () => {
    const VISIBILITY = 'VisibilityTimeout is 30, expected 600';
    const RETENTION = 'MessageRetentionPeriod is 60, expected 345600';
    const checks = [[VISIBILITY], [VISIBILITY], [VISIBILITY, RETENTION], [], [VISIBILITY]];
    let check = 0;
    const { start, stop, clock, telemetry } = aConsumer({
      missingQueue: { autoCreate: true },
      wrap: (transport) => ({
        ...transport,
        ensureQueue: async () => ensured(checks[check++] ?? []),
      }),
    });
    const working = start();
    await clock.pass(21 * 60_000);
    expect(check).toBe(5);
    expect(telemetry.warningDetails.map(({ differences }) => differences)).toEqual([
      VISIBILITY,
      `${VISIBILITY}; ${RETENTION}`,
      VISIBILITY,
    ]);
    stop.abort();
    await clock.passUntilSettled(working);
  });

  it('retries to create the queue', async () => {
    let left = 15;
    const { start, stop, clock, put, untilAcked, telemetry } = aConsumer({
      queues: OTHER_QUEUES,
      missingQueue: { autoCreate: true, maxAttempts: 16 },
      script: { refuse: ({ what }) => (what === 'ensureQueue' && left-- > 0 ? 'not allowed' : undefined) },
    });
    const working = start();
    await clock.passUntil(() => left < 0);
    put('e-1');
    await untilAcked(1);
    expect(
      telemetry.warnings.filter((what) => what === 'the queue could not be created or checked'),
    ).toHaveLength(15);
    stop.abort();
    await clock.passUntilSettled(working);
  });
});
