import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallResult } from '../../../lib/core/delivery/outcome.ts';
import { faultEnd, resiliencyOf, valueEnd } from '../../core/a-delivery.ts';
import { aConsumer, type ConsumerFixture, idOf, QUEUES } from '../a-consumer.ts';
import type { Operation } from '../scripted-transport.ts';

const CANARY = 'canary-7f0c';
const RUNS = 200;
const MAX_INTERRUPTIONS = 10;

const ENDS = {
  value: valueEnd(CANARY),
  'fan-out': valueEnd(CANARY, CANARY, CANARY),
  empty: { kind: 'empty' },
  error: faultEnd(),
  'permanent error': faultEnd({ type: 'Permanent' }),
  escalated: faultEnd({ type: 'Grave' }),
  timeout: { kind: 'timeout' },
  unreachable: { kind: 'unreachable', detail: 'connection refused' },
  interrupted: { kind: 'interrupted' },
} as const satisfies Readonly<Record<string, CallResult>>;

const RESILIENCY = resiliencyOf(
  {
    default: { maxAttempts: 3, initialDelay: '2s' },
    grave: { onExhausted: { action: 'escalate', topic: 'errors' } },
  },
  [
    { errors: ['Permanent'], policy: 'noRetry' },
    { errors: ['Grave'], policy: 'grave' },
  ],
);

interface FailureScript {
  /** How calls end, in order; the list repeats. */
  readonly ends: readonly (keyof typeof ENDS)[];
  /** Which sends are refused; the list repeats. */
  readonly refusals: readonly boolean[];
  /** How long calls, sends and settles take. Shorter than any delay, so that no envelope is processed twice at once. */
  readonly durationsMs: readonly number[];
  readonly envelopes: number;
  readonly concurrency: number;
}

const scripts: fc.Arbitrary<FailureScript> = fc.record({
  ends: fc.array(fc.constantFrom(...(Object.keys(ENDS) as (keyof typeof ENDS)[])), {
    minLength: 1,
    maxLength: 12,
  }),
  refusals: fc.array(fc.boolean(), { minLength: 1, maxLength: 25 }),
  durationsMs: fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 1, maxLength: 9 }),
  envelopes: fc.integer({ min: 1, max: 5 }),
  concurrency: fc.integer({ min: 1, max: 3 }),
});

function cycle<T>(list: readonly T[]): () => T {
  let next = 0;
  return () => list[next++ % list.length] as T;
}

async function run({
  ends,
  refusals,
  durationsMs,
  envelopes,
  concurrency,
}: FailureScript): Promise<ConsumerFixture> {
  const [nextEnd, nextRefusal, nextDuration] = [cycle(ends), cycle(refusals), cycle(durationsMs)];
  let interruptions = 0;
  const consumer = aConsumer({
    concurrency,
    queues: [...QUEUES, 'errors'],
    actor: { resiliency: RESILIENCY },
    end: async (_id, clock) => {
      await clock.sleep(nextDuration());
      const end = nextEnd();
      // An interruption does not count as an attempt, so without a limit the envelope could be resent forever.
      return end === 'interrupted' && ++interruptions > MAX_INTERRUPTIONS ? ENDS.value : ENDS[end];
    },
    script: {
      refuse: ({ what }) => (what === 'send' && nextRefusal() ? 'no' : undefined),
      takesMs: ({ what }) => (what === 'receive' ? 0 : nextDuration()),
    },
  });
  consumer.put(...Array.from({ length: envelopes }, (_, index) => `e-${index}`));
  const working = consumer.start();
  await consumer.clock.passUntil(() => consumer.idsIn('score').length === 0);
  consumer.stop.abort();
  await consumer.clock.passUntilSettled(working);
  return consumer;
}

/** The id of the envelope that a send belongs to. Children of a fan-out belong to their parent. */
function originOf(operation: Operation): string {
  const { id, parent_id } = JSON.parse(operation.body ?? '{}') as { id: string; parent_id?: string };
  return parent_id ?? id;
}

interface Settling {
  readonly settled: Operation;
  /** The sends for this envelope since it was last settled. */
  readonly sends: readonly Operation[];
}

function settlingsIn({ transport }: ConsumerFixture): readonly Settling[] {
  const sendsByOrigin = new Map<string, Operation[]>();
  const settlings: Settling[] = [];
  for (const operation of transport.operations) {
    const origin = operation.body === undefined ? '' : originOf(operation);
    if (operation.what === 'send')
      sendsByOrigin.set(origin, [...(sendsByOrigin.get(origin) ?? []), operation]);
    if (operation.what !== 'ack' && operation.what !== 'nack') continue;
    settlings.push({ settled: operation, sends: sendsByOrigin.get(origin) ?? [] });
    sendsByOrigin.delete(origin);
  }
  return settlings;
}

/** Returns the kind of settle, so that the test can check that every kind occurred. */
function expectAckLaw({ settled, sends }: Settling): string {
  const description = `${settled.what} of ${idOf(settled)} after ${sends.map(({ queue, ok }) => `${queue}: ${ok}`)}`;
  for (const send of sends) expect(send.endedNth, description).toBeLessThan(settled.beganNth);
  const refused = sends.filter(({ ok }) => !ok);
  const lastRefusal = Math.max(0, ...refused.map(({ endedNth = 0 }) => endedNth));
  const sendsAfterRefusal = sends.filter(({ beganNth }) => beganNth > lastRefusal);
  if (settled.what === 'nack') {
    // Only a refused send without a fallback releases. A pause of 0 is for deliveries that were never called.
    expect(settled.afterMs, description).toBeGreaterThan(0);
    expect(refused.length, description).toBeGreaterThan(0);
    expect(sendsAfterRefusal, description).toEqual([]);
    return 'released';
  }
  expect(sendsAfterRefusal.length, description).toBeGreaterThan(0);
  for (const send of sendsAfterRefusal) expect(send.ok, description).toBe(true);
  return refused.length === 0 ? 'acked' : 'acked after a fallback';
}

describe('with random failures', () => {
  it(`an ack follows only accepted sends, no envelope is lost, and telemetry contains no payload (${RUNS} scripts)`, async () => {
    const met = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(scripts, async (script) => {
        const consumer = await run(script);
        for (const settling of settlingsIn(consumer)) {
          const kind = expectAckLaw(settling);
          met.set(kind, (met.get(kind) ?? 0) + 1);
        }
        const queues = ['score-dlq', 'store', 'x-sink', 'errors'];
        const found = new Set(queues.flatMap((queue) => consumer.idsIn(queue)));
        for (let index = 0; index < script.envelopes; index++) expect(found).toContain(`e-${index}`);
        if (consumer.idsIn('score-dlq').length > 0) met.set('dead-lettered', 1);
        expect(consumer.runtime.mostRunning).toBeLessThanOrEqual(script.concurrency);
        expect(consumer.telemetry.text()).not.toContain(CANARY);
      }),
      { numRuns: RUNS, seed: 20_260_101 },
    );
    // The test proves something only if every case occurred.
    for (const kind of ['acked', 'acked after a fallback', 'released', 'dead-lettered']) {
      expect(met.get(kind), kind).toBeGreaterThan(0);
    }
  });
});
