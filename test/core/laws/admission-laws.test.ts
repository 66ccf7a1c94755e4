import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { law } from '../law.ts';
import { type Delivery, deliveries } from './delivery.ts';
import { dispatchesOf, kindOf, processDelivery } from './process-delivery.ts';

const MIN_TIME_MS = 1_000;

/** The first check that fails, in the specified order. */
function firstFailedCheck({ written, actor, now, hostTimeLeftMs }: Delivery): string | undefined {
  if (written.flaw !== undefined) return 'unreadable';
  const isDue = (written.notBeforeMs ?? now) <= now;
  if (actor.isEnd) {
    if (!isDue) return 'not-due';
    return hostTimeLeftMs < actor.timeoutMs ? 'host-out-of-time' : undefined;
  }
  if (written.phase === 'canceled') return 'canceled';
  if (written.curr !== actor.name) return 'route-mismatch';
  if (!isDue) return 'not-due';
  if (written.prev.length >= actor.maxHops) return 'hop-budget-exceeded';
  const leftMs = (written.deadlineMs ?? Number.POSITIVE_INFINITY) - now;
  if (leftMs < MIN_TIME_MS) return 'expired';
  return hostTimeLeftMs < Math.min(leftMs, actor.timeoutMs) ? 'host-out-of-time' : undefined;
}

describe('admission', () => {
  law(
    "calls the runtime exactly if all checks pass, within the actor's timeout and the deadline",
    deliveries(),
    (delivery) => {
      const { admission } = processDelivery(delivery);
      const { written, actor, now } = delivery;
      const kind = firstFailedCheck(delivery);
      expect(admission.kind).toBe(kind ?? (actor.isEnd ? 'end-call' : 'call'));
      if (admission.kind === 'end-call') expect(admission.timeoutMs).toBe(actor.timeoutMs);
      if (admission.kind !== 'call') return;
      const leftMs = (written.deadlineMs ?? Number.POSITIVE_INFINITY) - now;
      expect(admission.timeoutMs).toBe(Math.min(leftMs, actor.timeoutMs));
      expect(admission.boundBy).toBe(leftMs < actor.timeoutMs ? 'deadline' : 'actor');
      expect(admission.envelope.status.attempt).toBe(written.attempt);
    },
    (delivery) => {
      const { written, actor, now } = delivery;
      const leftMs = (written.deadlineMs ?? Number.POSITIVE_INFINITY) - now;
      return [
        processDelivery(delivery).admission.kind,
        ...(leftMs === MIN_TIME_MS ? ['1 s left'] : []),
        ...(leftMs === MIN_TIME_MS - 1 ? ['999 ms left'] : []),
        ...(leftMs === actor.timeoutMs ? ['deadline and timeout at the same time'] : []),
        ...(written.notBeforeMs === now ? ['due now'] : []),
        ...(written.prev.length === actor.maxHops - 1 ? ['one hop left'] : []),
      ];
    },
    [
      'call',
      'end-call',
      'unreadable',
      'canceled',
      'route-mismatch',
      'not-due',
      'hop-budget-exceeded',
      'expired',
      'host-out-of-time',
      '1 s left',
      '999 ms left',
      'deadline and timeout at the same time',
      'due now',
      'one hop left',
    ],
  );

  law(
    'starts a new status at every actor, and keeps an error only if the envelope was routed there',
    deliveries({ flaw: fc.constant(undefined), hasError: fc.constant(true) }),
    (delivery) => {
      const { admission } = processDelivery(delivery);
      if (admission.kind !== 'call') return;
      const { status } = admission.envelope;
      const { written } = delivery;
      expect(status.attempt).toBe(written.attempt);
      expect(Date.parse(status.created_at)).toBe(written.createdMs);
      expect(status.updated_at).toBe(new Date(delivery.now).toISOString().replace(/\.?0*Z$/, 'Z'));
      if (written.attempt > 1) return;
      expect('max_attempts' in status).toBe(false);
      expect('reason' in status).toBe(false);
      expect('error' in status).toBe(written.phase === 'failed');
    },
    (delivery) => {
      const { admission } = processDelivery(delivery);
      if (admission.kind !== 'call') return 'not called';
      return delivery.written.attempt > 1 ? 'a retry' : `a first attempt after ${delivery.written.phase}`;
    },
    [
      'a retry',
      'a first attempt after failed',
      'a first attempt after retrying',
      'a first attempt after pending',
      'a first attempt after undefined',
      'a first attempt after 7',
    ],
  );

  law(
    'an end actor leaves the status unchanged and sends to its own queue only',
    deliveries({ isEnd: fc.constant(true), bodyRoom: fc.constant(undefined) }),
    (delivery) => {
      const { arrival, plan } = processDelivery(delivery);
      for (const { type, to, envelope } of dispatchesOf(plan)) {
        expect(envelope.status).toEqual(arrival.envelope.status);
        expect([type, to]).toEqual(['again', delivery.actor.name]);
      }
    },
    kindOf,
    [
      'end frames -> end_consumed',
      'end empty -> end_consumed',
      'end fault -> release',
      'end interrupted -> returned',
      'not-due -> deferred',
      'host-out-of-time -> returned',
      'unreadable -> validation_error',
    ],
  );
});
