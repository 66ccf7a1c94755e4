import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { Dispatch } from '../../../lib/core/delivery/plan.ts';
import type { Policy } from '../../../lib/core/policy/policy.ts';
import { delayAfterAttempt } from '../../../lib/core/policy/policy-delay.ts';
import { law } from '../law.ts';
import { faultEnds, faults, NEVER } from './arbitraries.ts';
import { type Delivery, deliveries } from './delivery.ts';
import {
  isRetried,
  kindOf,
  membersOf,
  type ProcessedDelivery,
  policyOf,
  processDelivery,
  processUncached,
} from './process-delivery.ts';

describe('long delays', () => {
  const MAX_SEND_MS = 900_000;
  const longDelays = fc
    .tuple(fc.nat({ max: 4 }), fc.constantFrom(-1, 0, 1, 1_000, 450_000))
    .map(([sends, offsetMs]) => Math.max(0, sends * MAX_SEND_MS + offsetMs));

  /** How much later than requested the broker delivers, for each send. */
  const lateness = fc.array(fc.constantFrom(0, 0, 1, 999, 60_000), { minLength: 1, maxLength: 3 });

  /** One policy for all errors, with this delay. */
  const delayed = deliveries({
    ...faults,
    end: faultEnds.map((end) => ({ ...end, pause: { form: 'none' as const } })),
    rules: fc.constant([]),
    mainName: fc.constant('default' as const),
    mainPolicy: longDelays.map((initialMs) => ({
      maxAttempts: NEVER,
      backoff: { kind: 'constant' as const, initialMs },
      jitter: false,
      onExhausted: { action: 'sink' as const },
      exhaustedReason: 'PolicyExhausted' as const,
    })),
    onError: fc.constant(undefined),
    deadline: fc.constant(undefined),
    maxDelayMs: fc.constant(MAX_SEND_MS),
    phase: fc.constantFrom('retrying', 'pending'),
  });
  const delayOf = (delivery: Delivery) =>
    delayAfterAttempt(policyOf(processDelivery(delivery)) as Policy, 1, 0);

  law(
    'a delay that is too long for one send is split into steps, is not early, and counts as one attempt',
    fc.tuple(delayed, lateness),
    ([delivery, latenessMs]) => {
      const first = processDelivery(delivery);
      expect(isRetried(first)).toBe(true);
      const dueAtMs = first.context.now + delayOf(delivery);
      const sentStatus = membersOf(first.plan.dispatches[0]?.body).get('status');
      const hops = waitingHops(delivery, first, latenessMs);
      for (const { sent } of hops) {
        expect(sent.delayMs).toBeLessThanOrEqual(MAX_SEND_MS);
        expect(membersOf(sent.body).get('status')).toBe(sentStatus);
      }
      expect(hops.length).toBeLessThanOrEqual(Math.ceil(delayOf(delivery) / MAX_SEND_MS) + 1);
      const last = hops.at(-1)?.arrived;
      expect(last?.admission.kind).toBe('call');
      if (last?.admission.kind !== 'call') return;
      expect(last.context.now - delivery.elapsedMs).toBeGreaterThanOrEqual(dueAtMs);
      expect(last.admission.envelope.status.attempt).toBe(delivery.written.attempt + 1);
      expect([...last.admission.envelope.headers.keys()]).not.toContain('x-asya-not-before');
    },
    ([delivery]) => `${Math.ceil(delayOf(delivery) / MAX_SEND_MS)} sends`,
    ['0 sends', '1 sends', '2 sends', '4 sends', '5 sends'],
  );

  law(
    'an envelope that is not due is resent unchanged to its actor until it is',
    fc.tuple(
      deliveries({
        flaw: fc.constant(undefined),
        curr: fc.constant('own' as const),
        hostTimeLeft: fc.constant(NEVER),
        maxDelayMs: fc.constantFrom(MAX_SEND_MS, NEVER),
        notBefore: fc
          .constantFrom(1, 1_000, MAX_SEND_MS, MAX_SEND_MS + 1, 5 * MAX_SEND_MS)
          .map((offsetMs) => ({ offsetMs, form: 'utc' as const })),
      }),
      lateness,
    ),
    ([delivery, latenessMs]) => {
      const first = processDelivery(delivery);
      if (first.outcome.kind !== 'not-due') return;
      const { envelope } = first.arrival;
      const { notBeforeMs = 0 } = delivery.written;
      const hops = waitingHops(delivery, first, latenessMs);
      for (const { sent } of hops) expect(isDeepStrictEqual(sent.envelope, envelope)).toBe(true);
      const most = Math.ceil((notBeforeMs - delivery.now) / delivery.limits.maxDelayMs) + 1;
      expect(hops.length).toBeLessThanOrEqual(most);
      const last = hops.at(-1);
      expect(last?.arrived.outcome.kind).not.toBe('not-due');
      expect(last?.arrivedMs).toBeGreaterThanOrEqual(notBeforeMs);
    },
    ([delivery]) =>
      `${delivery.actor.isEnd ? 'end ' : ''}${kindOf(delivery)}, most ${delivery.limits.maxDelayMs}`,
    [
      'not-due -> deferred, most 900000',
      'not-due -> deferred, most Infinity',
      'end not-due -> deferred, most 900000',
      'end not-due -> deferred, most Infinity',
    ],
  );
});

interface WaitingHop {
  readonly sent: Dispatch;
  readonly arrived: ProcessedDelivery;
  readonly arrivedMs: number;
}

/** Delivers a delayed send, with its delay and the broker's lateness, until the envelope is due. */
function waitingHops(
  delivery: Delivery,
  first: ProcessedDelivery,
  latenessMs: readonly number[],
): readonly WaitingHop[] {
  const hops: WaitingHop[] = [];
  let arrived = first;
  let arrivedMs = first.context.now;
  do {
    const [sent] = arrived.plan.dispatches;
    if (sent === undefined) break;
    arrivedMs += sent.delayMs + (latenessMs[hops.length % latenessMs.length] ?? 0);
    arrived = processUncached({ ...delivery, body: sent.body, now: arrivedMs });
    hops.push({ sent, arrived, arrivedMs });
  } while (arrived.outcome.kind === 'not-due' && hops.length < 20);
  return hops;
}
