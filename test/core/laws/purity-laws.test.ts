import { isDeepStrictEqual } from 'node:util';
import { serialize } from 'node:v8';
import { describe, expect } from 'vitest';
import { admit } from '../../../lib/core/delivery/admit.ts';
import { decide } from '../../../lib/core/delivery/decide.ts';
import type { Outcome } from '../../../lib/core/delivery/outcome.ts';
import { decode } from '../../../lib/core/envelope/decode.ts';
import { law } from '../law.ts';
import { deliveries } from './delivery.ts';
import { EVERY_END, kindOf, originAt, processDelivery, processUncached } from './process-delivery.ts';

describe('purity', () => {
  law(
    'no step changes its input, and the same delivery has the same plan',
    deliveries(),
    (delivery) => {
      const given = deepFrozen(delivery);
      const { actor, limits, now, hostTimeLeftMs, random, elapsedMs } = given;
      const arrival = deepFrozen(decode(given.body, originAt(actor.name)));
      const before = serialize([given, arrival]);
      const admission = deepFrozen(admit(arrival, actor, now, hostTimeLeftMs));
      const isCalled = admission.kind === 'call' || admission.kind === 'end-call';
      const outcome: Outcome = isCalled ? { kind: 'called', call: admission, end: given.end } : admission;
      const admitted = serialize(outcome);
      const { deriveId } = originAt(actor.name);
      const context = { actor, limits, now: isCalled ? now + elapsedMs : now, random, deriveId };
      const plans = [decide(outcome, context), decide(outcome, context), processUncached(delivery).plan];
      for (const plan of plans) expect(isDeepStrictEqual(plan, processDelivery(delivery).plan)).toBe(true);
      expect(serialize([given, arrival]).equals(before)).toBe(true);
      expect(serialize(outcome).equals(admitted)).toBe(true);
    },
    kindOf,
    EVERY_END,
  );
});

/** Maps and bytes cannot be frozen, so their contents before and after are compared. */
function deepFrozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (value instanceof Map || value instanceof Set) for (const item of value.values()) deepFrozen(item);
  for (const item of Object.values(value)) deepFrozen(item);
  return Object.freeze(value);
}
