import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { DispatchType, Plan } from '../../../lib/core/delivery/plan.ts';
import { decode } from '../../../lib/core/envelope/decode.ts';
import { law } from '../law.ts';
import { type Delivery, deliveries } from './delivery.ts';
import {
  dispatchesOf,
  EVERY_END,
  failuresOf,
  isSuccess,
  kindOf,
  originAt,
  parsed,
  plansOf,
  processDelivery,
  resultsOf,
} from './process-delivery.ts';

interface ExpectedStatus {
  readonly phase: string;
  readonly reasons: readonly unknown[];
  readonly types: readonly DispatchType[];
}

const failedAs = (...reasons: readonly string[]): ExpectedStatus => ({
  phase: 'failed',
  reasons,
  types: ['sink'],
});

/** The expected phase and reason in the status, by the end of a plan. */
const EXPECTED_STATUS: Readonly<Record<string, ExpectedStatus>> = {
  success: { phase: 'succeeded', reasons: ['Completed'], types: ['next', 'sink'] },
  empty_response: { phase: 'succeeded', reasons: ['Completed'], types: ['sink'] },
  retried: { phase: 'retrying', reasons: [undefined], types: ['retry'] },
  policy_routed: { phase: 'failed', reasons: ['PolicyRouted'], types: ['routed'] },
  escalated: { phase: 'failed', reasons: ['Escalated'], types: ['escalation', 'sink'] },
  dropped: failedAs('Dropped'),
  policy_exhausted: failedAs('PolicyExhausted', 'NonRetryableFailure'),
  runtime_error: failedAs('RuntimeError'),
  retry_send_failed: failedAs('RuntimeError'),
  sla_timeout: failedAs('Timeout'),
  timeout: failedAs('ActorTimeout'),
  parse_error: failedAs('ParseError'),
  validation_error: failedAs('ValidationError'),
  route_mismatch: failedAs('RouteMismatch'),
};

/** Ends that leave the envelope unchanged. */
const UNCHANGED: readonly string[] = ['deferred', 'returned', 'canceled', 'end_consumed', 'release'];

/** The only fact of a plan about its end. */
function endOf(plan: Plan): string {
  const results = resultsOf(plan).filter((result) => result !== 'error' && result !== 'sla_expired');
  return (
    [...results, ...failuresOf(plan).filter((reason) => reason !== 'transport_error')].at(0) ?? plan.settle
  );
}

/** Deliveries that reach the runtime. */
const calledOnly = {
  flaw: fc.constant(undefined),
  isEnd: fc.constant(false),
  curr: fc.constant('own' as const),
};

describe('facts', () => {
  law(
    'a plan has one end, a fact for each send, and no sends if it releases',
    deliveries(),
    (delivery) => {
      for (const plan of plansOf(processDelivery(delivery).plan)) {
        const sent = plan.facts.filter((fact) => fact.fact === 'sent');
        expect(sent).toEqual(plan.dispatches.map(({ to, type }) => ({ fact: 'sent', to, type })));
        const results = resultsOf(plan);
        const failures = failuresOf(plan);
        const ends = [
          ...results.filter((result) => result !== 'error' && result !== 'sla_expired'),
          ...failures,
        ];
        expect(ends.length).toBe(plan.settle === 'release' && results.includes('error') ? 0 : 1);
        expect(results.includes('sla_expired')).toBe(failures.includes('sla_timeout'));
        const isCounted = plan.facts.filter((fact) => fact.fact === 'runtime-error').length;
        expect(isCounted).toBe(results.filter((result) => result === 'error').length);
        const failed = plan.dispatches.filter(({ body }) => parsed(body).status?.phase === 'failed');
        const hasFailedSink = failed.some(({ type }) => type === 'sink');
        const isReported =
          failures.length > 0 || results.includes('dropped') || results.includes('escalated');
        if (plan.settle === 'ack' && !results.includes('returned') && !results.includes('deferred'))
          expect(hasFailedSink).toBe(isReported);
      }
    },
    kindOf,
    EVERY_END,
  );

  law(
    'the sent status agrees with the facts, and resent envelopes are unchanged',
    deliveries(),
    (delivery) => {
      const { arrival, plan: first } = processDelivery(delivery);
      for (const plan of plansOf(first)) {
        const end = endOf(plan);
        const expected = EXPECTED_STATUS[end];
        expect(expected !== undefined || UNCHANGED.includes(end)).toBe(true);
        if (expected === undefined || plan.settle === 'release') {
          for (const { envelope } of plan.dispatches)
            expect(isDeepStrictEqual(envelope, arrival.envelope)).toBe(true);
          continue;
        }
        for (const { type, body } of plan.dispatches) {
          const { phase, reason, actor, error } = parsed(body).status ?? {};
          expect(expected.types).toContain(type);
          expect(phase).toBe(type === 'next' ? 'pending' : expected.phase);
          expect(type === 'next' ? [undefined] : expected.reasons).toContain(reason);
          expect(actor).toBe(delivery.actor.name);
          expect(error === undefined).toBe(expected.phase === 'succeeded');
        }
      }
    },
    (delivery) => plansOf(processDelivery(delivery).plan).map(endOf),
    [...Object.keys(EXPECTED_STATUS), ...UNCHANGED],
  );

  law(
    'a timeout that the deadline determined ends as Timeout, for any rules and _on_error',
    deliveries({
      ...calledOnly,
      end: fc.constant({ kind: 'timeout' as const }),
      onError: fc.constantFrom(undefined, 'review'),
    }),
    (delivery) => {
      const { admission, plan } = processDelivery(delivery);
      if (admission.kind !== 'call') return;
      const reasons = plan.dispatches.map(({ body }) => parsed(body).status?.reason);
      if (admission.boundBy === 'deadline')
        expect([plan.dispatches[0]?.type, ...reasons]).toEqual(['sink', 'Timeout']);
      else if (delivery.written.onError !== undefined) expect(reasons).toEqual(['PolicyRouted']);
      // Only a rule may retry a timeout; the default policy does not.
      const decidedBy = plan.facts.find((fact) => fact.fact === 'policy');
      expect(decidedBy === undefined || decidedBy.rule !== undefined).toBe(true);
    },
    (delivery) => {
      const { admission } = processDelivery(delivery);
      const onError = delivery.written.onError === undefined ? '' : ' with _on_error';
      return `${admission.kind === 'call' ? admission.boundBy : 'not called'}${onError}`;
    },
    ['actor', 'deadline', 'actor with _on_error', 'deadline with _on_error'],
  );
});

describe('sent bodies', () => {
  law(
    'every sent body is the readable envelope of its dispatch',
    deliveries(),
    (delivery) => {
      for (const { body, envelope } of dispatchesOf(processDelivery(delivery).plan)) {
        const arrival = decode(body, originAt(delivery.actor.name));
        expect(arrival.kind === 'readable' ? 'readable' : arrival.problem).toBe('readable');
        expect(isDeepStrictEqual(arrival.envelope, envelope)).toBe(true);
      }
    },
    (delivery) => [
      kindOf(delivery),
      ...(delivery.written.attempt > Number.MAX_SAFE_INTEGER
        ? ['attempts above the largest safe integer']
        : []),
      ...(hasWrongOnError(delivery) ? ['an invalid _on_error from the handler'] : []),
    ],
    [...EVERY_END, 'attempts above the largest safe integer', 'an invalid _on_error from the handler'],
  );

  function hasWrongOnError({ end }: Delivery): boolean {
    const named = end.kind === 'frames' ? end.frames.map(({ headers }) => headers?.get('_on_error')) : [];
    return named.some((text) => text !== undefined && text !== '"review"');
  }
});

describe('size limits', () => {
  law(
    "no result exceeds the transport's limit, and the error of a failure is shortened before it does",
    deliveries({ bodyRoom: fc.constantFrom(-1, 0, 1, 50, 150, 300, 500, 1_500, 10_000) }),
    (delivery) => {
      for (const plan of plansOf(processDelivery(delivery).plan)) {
        for (const { body } of plan.dispatches) {
          const isTooLarge = Buffer.byteLength(body, 'utf8') > delivery.limits.maxBodyBytes;
          if (isSuccess(plan)) expect(isTooLarge).toBe(false);
          const { status } = parsed(body);
          if (!isTooLarge || status?.phase !== 'failed' || resultsOf(plan).includes('returned')) continue;
          if (resultsOf(plan).includes('deferred')) continue;
          expect(status.error).toMatchObject({ mro: [], traceback: '' });
          expect(Buffer.byteLength(status.error?.message ?? '', 'utf8')).toBeLessThanOrEqual(1_024);
        }
      }
    },
    (delivery) =>
      dispatchesOf(processDelivery(delivery).plan).map(({ body, type }) => {
        const isTooLarge = Buffer.byteLength(body, 'utf8') > delivery.limits.maxBodyBytes;
        return `${type} ${isTooLarge ? 'too large' : 'fits'}`;
      }),
    ['next fits', 'sink fits', 'sink too large', 'retry fits'],
  );
});
