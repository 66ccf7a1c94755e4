import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallEnd } from '../../../lib/core/delivery/outcome.ts';
import { faultEnd, resiliencyOf, valueEnd } from '../../core/a-delivery.ts';
import { aWorkshop, idOf, QUEUES, type Workshop } from '../a-workshop.ts';
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
} as const satisfies Readonly<Record<string, CallEnd>>;

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
  /** How calls end, one after the other, and then from the start. */
  readonly ends: readonly (keyof typeof ENDS)[];
  /** Which sends are refused, likewise. */
  readonly refusals: readonly boolean[];
  /** How long calls, sends and settlings take; less than any delay, so that no envelope is in two hands. */
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

function around<T>(list: readonly T[]): () => T {
  let next = 0;
  return () => list[next++ % list.length] as T;
}

async function play({
  ends,
  refusals,
  durationsMs,
  envelopes,
  concurrency,
}: FailureScript): Promise<Workshop> {
  const [nextEnd, nextRefusal, nextDuration] = [around(ends), around(refusals), around(durationsMs)];
  let interruptions = 0;
  const workshop = aWorkshop({
    concurrency,
    queues: [...QUEUES, 'errors'],
    actor: { resiliency: RESILIENCY },
    end: async (_id, clock) => {
      await clock.sleep(nextDuration());
      const end = nextEnd();
      // An interruption is no attempt: what is interrupted for ever goes round for ever.
      return end === 'interrupted' && ++interruptions > MAX_INTERRUPTIONS ? ENDS.value : ENDS[end];
    },
    script: {
      refuse: ({ what }) => (what === 'send' && nextRefusal() ? 'no' : undefined),
      takesMs: ({ what }) => (what === 'receive' ? 0 : nextDuration()),
    },
  });
  workshop.put(...Array.from({ length: envelopes }, (_, index) => `e-${index}`));
  const working = workshop.start();
  await workshop.clock.passUntil(() => workshop.idsIn('score').length === 0);
  workshop.stop.abort();
  await workshop.clock.passUntilSettled(working);
  return workshop;
}

/** The envelope that a send belongs to: children of a fan-out belong to their parent. */
function familyOf(operation: Operation): string {
  const { id, parent_id } = JSON.parse(operation.body ?? '{}') as { id: string; parent_id?: string };
  return parent_id ?? id;
}

interface Settling {
  readonly settled: Operation;
  /** What was sent for it: since the same envelope was settled the last time. */
  readonly sends: readonly Operation[];
}

function settlingsIn({ transport }: Workshop): readonly Settling[] {
  const since = new Map<string, Operation[]>();
  const settlings: Settling[] = [];
  for (const operation of transport.operations) {
    const family = operation.body === undefined ? '' : familyOf(operation);
    if (operation.what === 'send') since.set(family, [...(since.get(family) ?? []), operation]);
    if (operation.what !== 'ack' && operation.what !== 'nack') continue;
    settlings.push({ settled: operation, sends: since.get(family) ?? [] });
    since.delete(family);
  }
  return settlings;
}

/** What it was: for counting that every kind was met. */
function expectLawful({ settled, sends }: Settling): string {
  const told = `${settled.what} of ${idOf(settled)} after ${sends.map(({ queue, ok }) => `${queue}: ${ok}`)}`;
  for (const send of sends) expect(send.endedNth, told).toBeLessThan(settled.beganNth);
  const refused = sends.filter(({ ok }) => !ok);
  const lastRefusal = Math.max(0, ...refused.map(({ endedNth = 0 }) => endedNth));
  const sentInstead = sends.filter(({ beganNth }) => beganNth > lastRefusal);
  if (settled.what === 'nack') {
    // Nobody told it to stop before it was called: only a refusal that nothing made good releases.
    if (settled.afterMs === 0) return 'given back';
    expect(refused.length, told).toBeGreaterThan(0);
    expect(sentInstead, told).toEqual([]);
    return 'released';
  }
  expect(sentInstead.length, told).toBeGreaterThan(0);
  for (const send of sentInstead) expect(send.ok, told).toBe(true);
  return refused.length === 0 ? 'acked' : 'acked after what was sent instead';
}

describe('over random failures', () => {
  it(`an ack comes only after every send was accepted, nothing is lost, and no payload is told (${RUNS} scripts)`, async () => {
    const met = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(scripts, async (script) => {
        const workshop = await play(script);
        for (const settling of settlingsIn(workshop)) {
          const kind = expectLawful(settling);
          met.set(kind, (met.get(kind) ?? 0) + 1);
        }
        const places = ['score-dlq', 'store', 'x-sink', 'errors'];
        const found = new Set(places.flatMap((queue) => workshop.idsIn(queue)));
        for (let index = 0; index < script.envelopes; index++) expect(found).toContain(`e-${index}`);
        if (workshop.idsIn('score-dlq').length > 0) met.set('dead-lettered', 1);
        expect(workshop.runtime.mostRunning).toBeLessThanOrEqual(script.concurrency);
        expect(workshop.told.text()).not.toContain(CANARY);
      }),
      { numRuns: RUNS, seed: 20_260_101 },
    );
    // A law that never meets the case it is about proves nothing.
    for (const kind of ['acked', 'acked after what was sent instead', 'released', 'dead-lettered']) {
      expect(met.get(kind), kind).toBeGreaterThan(0);
    }
  });
});
