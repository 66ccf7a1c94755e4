import { describe, expect, it } from 'vitest';
import { aConsumer } from '../a-consumer.ts';

const TEN_MINUTES_MS = 600_000;

describe('a delivery whose send is refused', () => {
  it('is released for 15 s, 1 min, 4 min and 15 min, and then moves to the dead-letter queue', async () => {
    const { put, start, stop, clock, transport, idsIn } = aConsumer({
      script: { refuse: ({ what, queue }) => (what === 'send' && queue === 'store' ? 'no' : undefined) },
    });
    put('e-1');
    const working = start();
    await clock.passUntil(() => idsIn('score-dlq').length > 0);
    const pauses = transport.operationsOf('nack').map(({ afterMs = 0 }) => afterMs / 1000);
    expect(pauses).toEqual([15, 60, 240, 900, 900]);
    expect(transport.operationsOf('ack')).toEqual([]);
    stop.abort();
    await clock.passUntilSettled(working);
  });

  it('survives ten minutes without the next queue', async () => {
    const consumer = aConsumer({
      script: {
        refuse: ({ what, queue }) =>
          what === 'send' && queue === 'store' && consumer.elapsedMs() < TEN_MINUTES_MS
            ? 'unreachable'
            : undefined,
      },
    });
    const { put, start, stop, clock, untilAcked, transport, runtime, idsIn } = consumer;
    put('e-1', 'e-2', 'e-3');
    const working = start();
    await untilAcked(3);
    expect(idsIn('store').toSorted()).toEqual(['e-1', 'e-2', 'e-3']);
    expect(idsIn('score-dlq')).toEqual([]);
    // Each was received four times during the outage, and a fifth time after it.
    expect(runtime.calls).toHaveLength(15);
    expect(transport.operationsOf('nack')).toHaveLength(12);
    stop.abort();
    await clock.passUntilSettled(working);
  });

  it('survives ten minutes without a broker, when releases fail too', async () => {
    let outageStartMs = Number.POSITIVE_INFINITY;
    const consumer = aConsumer({
      script: {
        refuse: () => {
          const since = consumer.elapsedMs() - outageStartMs;
          return since >= 0 && since < TEN_MINUTES_MS ? 'unreachable' : undefined;
        },
      },
      end: async (_id, clock) => {
        await clock.sleep(5_000);
        return { kind: 'empty' };
      },
    });
    const { put, start, stop, clock, untilAcked, elapsedMs, idsIn, telemetry, runtime } = consumer;
    put('e-1');
    const working = start();
    await clock.pass(1_000);
    outageStartMs = elapsedMs();
    await untilAcked(1);
    expect(elapsedMs()).toBeGreaterThan(TEN_MINUTES_MS);
    expect(idsIn('x-sink')).toEqual(['e-1']);
    expect(idsIn('score-dlq')).toEqual([]);
    expect(telemetry.warnings).toContain('a delivery could not be released');
    expect(runtime.calls).toHaveLength(2);
    stop.abort();
    await clock.passUntilSettled(working);
  });

  it('does not delay deliveries to other queues', async () => {
    const { put, start, stop, clock, untilAcked, idsIn, transport } = aConsumer({
      script: { refuse: ({ what, queue }) => (what === 'send' && queue === 'store' ? 'no' : undefined) },
      end: (id) =>
        id.startsWith('sink') ? { kind: 'empty' } : { kind: 'frames', frames: [{ payload: '1' as never }] },
    });
    put('e-1', 'sink-1', 'e-2', 'sink-2');
    const working = start();
    await untilAcked(2);
    expect(idsIn('x-sink')).toEqual(['sink-1', 'sink-2']);
    expect(transport.operationsOf('nack')).toHaveLength(2);
    stop.abort();
    await clock.passUntilSettled(working);
  });
});
