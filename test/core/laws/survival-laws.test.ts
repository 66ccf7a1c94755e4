import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { instantMs } from '../../../lib/core/text/timestamp.ts';
import { law } from '../law.ts';
import { deliveries } from './delivery.ts';
import {
  EVERY_END,
  isSuccess,
  kindOf,
  membersOf,
  parsed,
  plansOf,
  processDelivery,
} from './process-delivery.ts';
import { TRACE } from './written.ts';

describe('survival', () => {
  law(
    'deadline, parent, trace, unknown keys and, except for a success, the payload survive every plan',
    deliveries(),
    (delivery) => {
      const { written, end } = delivery;
      const { arrival, plan } = processDelivery(delivery);
      for (const one of plansOf(plan)) {
        for (const [index, { body }] of one.dispatches.entries()) {
          const { status, parent_id } = parsed(body);
          expect(instantMs(status?.deadline_at)).toBe(written.deadlineMs);
          // Any offset is accepted, UTC is written.
          expect(status?.deadline_at ?? 'Z').toMatch(/Z$/);
          expect(parent_id).toBe(isSuccess(one) && index > 0 ? written.id : written.parentId);
          if (arrival.kind === 'unreadable') continue;
          const members = membersOf(body);
          const answered =
            end.kind === 'frames' && isSuccess(one) ? end.frames[index]?.payload : written.payload;
          expect(members.get('payload') === answered).toBe(true);
          const headers = membersOf(members.get('headers'));
          expect([headers.get('traceparent'), headers.get('x-asya-task')]).toEqual([TRACE, '"t-1"']);
          for (const [key, text] of written.extra) expect(members.get(key)).toBe(text);
        }
      }
    },
    (delivery) => [
      kindOf(delivery),
      ...(delivery.written.deadlineMs === undefined
        ? []
        : [`a deadline, ${delivery.written.flaw ? 'unreadable' : 'readable'}`]),
      ...(delivery.written.parentId === undefined ? [] : ['a parent']),
      ...(delivery.written.extra.size === 0 ? [] : ['unknown keys']),
    ],
    [...EVERY_END, 'a deadline, readable', 'a deadline, unreadable', 'a parent', 'unknown keys'],
  );
});

describe('unusual keys', () => {
  const hostile = fc.constant([['__proto__', '{"polluted":true}']] as [string, string][]);

  law(
    'no prototype is polluted, and a key named __proto__ is kept',
    deliveries({
      flaw: fc.constant(undefined),
      headers: hostile,
      extra: hostile,
      routeExtra: hostile,
      statusExtra: hostile,
      hasStatus: fc.constant(true),
      payload: fc.constantFrom(
        '{"__proto__":{"polluted":true}}',
        '{"constructor":1,"__proto__":{"polluted":true}}',
      ),
    }),
    (delivery) => {
      const { plan } = processDelivery(delivery);
      for (const one of plansOf(plan)) {
        for (const { body } of one.dispatches) {
          const sent = parsed(body);
          const kept = [
            sent,
            sent.route,
            sent.status,
            ...(isSuccess(one) ? [] : [sent.headers, sent.payload]),
          ];
          for (const place of kept) expect(Object.hasOwn(place as object, '__proto__')).toBe(true);
        }
      }
      expect(Object.keys(Object.prototype)).toEqual([]);
      expect('polluted' in {}).toBe(false);
    },
    kindOf,
    EVERY_END.filter((end) => !end.startsWith('unreadable')),
  );
});
