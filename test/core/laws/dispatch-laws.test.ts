import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { DispatchType } from '../../../lib/core/delivery/plan.ts';
import { decode } from '../../../lib/core/envelope/decode.ts';
import { encode } from '../../../lib/core/envelope/encode.ts';
import { law } from '../law.ts';
import { framesOf } from './arbitraries.ts';
import { type Delivery, deliveries } from './delivery.ts';
import { TOPIC } from './policy-arbitraries.ts';
import {
  dispatchesOf,
  EVERY_END,
  isSuccess,
  kindOf,
  originAt,
  parsed,
  plansOf,
  policyOf,
  processDelivery,
  processUncached,
  resultsOf,
} from './process-delivery.ts';
import { ACTOR } from './written.ts';

describe('the sends of a plan', () => {
  law(
    'acknowledges only with a send, except for end actors',
    deliveries(),
    (delivery) => {
      for (const plan of plansOf(processDelivery(delivery).plan)) {
        if (plan.settle === 'release' || resultsOf(plan).includes('end_consumed')) continue;
        expect(plan.dispatches).not.toEqual([]);
      }
    },
    kindOf,
    EVERY_END,
  );

  law(
    'ids are distinct at each destination and the same on redelivery, and children have a parent_id',
    deliveries({ elapsedMs: fc.constant(0) }),
    (delivery) => {
      const { plan } = processDelivery(delivery);
      for (const { dispatches } of plansOf(plan)) {
        const identities = dispatches.map(({ to, body }) => JSON.stringify([to, parsed(body).id]));
        expect(new Set(identities).size).toBe(dispatches.length);
      }
      const again = processUncached({ ...delivery, random: 0.25 }).plan;
      // Another random value may lead to another plan. The same plan has the same ids.
      if (again.dispatches.length === plan.dispatches.length)
        expect(idsOf(again.dispatches)).toEqual(idsOf(plan.dispatches));
      if (!isSuccess(plan)) return;
      const [first, ...children] = plan.dispatches.map(({ body }) => parsed(body));
      if (first !== undefined) expect(first.id).toBe(delivery.written.id);
      for (const child of children) {
        expect(child.id).not.toBe(delivery.written.id);
        expect(child.parent_id).toBe(delivery.written.id);
      }
    },
    (delivery) => {
      const { plan } = processDelivery(delivery);
      return isSuccess(plan) ? `success with ${plan.dispatches.length}` : resultsOf(plan).join() || 'failed';
    },
    ['success with 1', 'success with 2', 'success with 5', 'error,escalated', 'error,retried', 'failed'],
  );

  law(
    'children of another hop, actor or parent have other ids',
    fc.tuple(
      deliveries({
        end: framesOf({ minLength: 2, maxLength: 5 }),
        curr: fc.constant('own' as const),
        flaw: fc.constant(undefined),
        isEnd: fc.constant(false),
      }),
      fc.constantFrom('hop', 'actor', 'parent'),
    ),
    ([delivery, difference]) => {
      const [, ...children] = processDelivery(delivery).plan.dispatches;
      const [, ...others] = processUncached(elsewhere(delivery, difference)).plan.dispatches;
      const ids = [...idsOf(children), ...idsOf(others)];
      expect(new Set(ids).size).toBe(ids.length);
    },
    ([delivery, difference]) =>
      isSuccess(processDelivery(delivery).plan) ? `another ${difference}` : 'no children',
    ['another hop', 'another actor', 'another parent'],
  );

  law(
    "sends go to route.curr, the actor's own queue, x-sink or the topic, and never to x-sump",
    deliveries(),
    (delivery) => {
      const { written, actor } = delivery;
      const { arrival, plan } = processDelivery(delivery);
      const destinations: Partial<Record<DispatchType, string>> = {
        retry: actor.name,
        again: actor.name,
        sink: actor.sink,
        escalation: TOPIC,
      };
      for (const one of plansOf(plan)) {
        for (const { to, type, body } of one.dispatches) {
          const { route } = parsed(body);
          expect(to).not.toBe('x-sump');
          expect(to).toBe(destinations[type] ?? route.curr);
          if (type === 'routed') expect([route.curr, ...route.next]).toEqual(rescuersOf(delivery));
          if (arrival.kind === 'unreadable') {
            expect(route).toEqual({ prev: [], curr: actor.name, next: [] });
          } else if (type === 'next' || type === 'routed' || isSuccess(one)) {
            expect(route.prev).toEqual([...written.prev, written.curr]);
            expect(route.curr === '').toBe(type === 'sink');
          } else {
            expect(route).toMatchObject({ prev: written.prev, curr: written.curr, next: written.next });
          }
          expect([route.curr, ...route.next].filter((name) => name.startsWith('x-'))).toEqual([]);
        }
      }
    },
    (delivery) => dispatchesOf(processDelivery(delivery).plan).map(({ type }) => type),
    ['next', 'routed', 'retry', 'again', 'sink', 'escalation'],
  );

  law(
    'a handler can only route to valid and allowed names',
    deliveries({
      end: framesOf({ maxLength: 5 }),
    }),
    (delivery) => {
      const { plan } = processDelivery(delivery);
      if (!isSuccess(plan)) return;
      const { written, actor, end } = delivery;
      for (const [index, { body }] of plan.dispatches.entries()) {
        const { route } = parsed(body);
        const rest = route.curr === '' ? [] : [route.curr, ...route.next];
        const frame = end.kind === 'frames' ? end.frames[index] : undefined;
        expect(rest).toEqual(frame?.next ?? written.next);
        const isRewritten = JSON.stringify(rest) !== JSON.stringify(written.next);
        if (isRewritten && actor.routeAllow !== undefined)
          for (const name of rest) expect([...actor.routeAllow]).toContain(name);
      }
    },
    (delivery) => {
      const isGuarded = delivery.actor.routeAllow === undefined ? '' : ' (guarded)';
      return `${kindOf(delivery)}${isGuarded}`;
    },
    ['frames -> success', 'frames -> success (guarded)', 'frames -> validation_error (guarded)'],
  );
});

/** The actors that a failure is routed to. */
function rescuersOf(delivery: Delivery): readonly string[] {
  const { onError } = delivery.written;
  if (onError !== undefined) return [onError];
  const onExhausted = policyOf(processDelivery(delivery))?.onExhausted;
  return onExhausted?.action === 'route' ? onExhausted.actors : [];
}

function idsOf(dispatches: readonly { readonly body: string }[]): readonly string[] {
  return dispatches.map(({ body }) => parsed(body).id);
}

/** The same delivery with one changed part of those that a child's id is derived from. */
function elsewhere(delivery: Delivery, difference: 'hop' | 'actor' | 'parent'): Delivery {
  const arrival = decode(delivery.body, originAt(ACTOR));
  const { envelope } = arrival;
  const { route } = envelope;
  switch (difference) {
    case 'hop':
      return {
        ...delivery,
        body: encode({ ...envelope, route: { ...route, prev: [...route.prev, 'one-more'] } }),
      };
    case 'actor': {
      const actor = { ...delivery.actor, name: 'elsewhere' };
      return { ...delivery, actor, body: encode({ ...envelope, route: { ...route, curr: 'elsewhere' } }) };
    }
    case 'parent':
      return { ...delivery, body: encode({ ...envelope, id: 'e-2' }) };
  }
}
