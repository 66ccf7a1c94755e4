import { describe, expect, it } from 'vitest';
import type { CallResult } from '../../../lib/core/delivery/outcome.ts';
import { type Plan, planAfterRefusal } from '../../../lib/core/delivery/plan.ts';
import {
  anEnvelope,
  at,
  factLabelsOf,
  faultEnd,
  handle,
  type Setting,
  TIMEOUT,
  UNREACHABLE,
  valueEnd,
} from '../a-delivery.ts';

const EMPTY: CallResult = { kind: 'empty' };
const end = (isEnd: boolean): Setting => ({ actor: { isEnd } });
const byDefault = (policy: object): Setting => ({ policies: { default: policy } });
const byRule = (errors: readonly string[], policy: object): Setting => ({
  policies: { own: policy },
  rules: [{ errors, policy: 'own' }],
});
const onError = { headers: { _on_error: 'recover' } };
const soon = { status: { deadline_at: at(5_000) } };
const lastConnection = { status: { phase: 'retrying', actor: 'score', attempt: 4 } };

type Row = readonly [
  outcome: string,
  envelope: object | string,
  end: CallResult,
  setting: Setting,
  result: readonly string[],
  failed: readonly string[],
  errorType: readonly string[],
];

/** The rows of the metrics table. A row for several cases has a line for each of them. */
const TABLE: readonly Row[] = [
  ['value', {}, valueEnd(1), {}, ['success'], [], []],
  [
    'value at the end of the route',
    { route: { prev: [], curr: 'score', next: [] } },
    valueEnd(1),
    {},
    ['success'],
    [],
    [],
  ],
  ['fan-out, counted once', {}, valueEnd(1, 2, 3), {}, ['success'], [], []],
  ['empty', {}, EMPTY, {}, ['empty_response'], [], []],
  ['end actor done', {}, valueEnd(1), end(true), ['end_consumed'], [], []],
  ['end actor failed', {}, faultEnd(), end(true), ['error'], [], ['execution']],
  ['error, retried', {}, faultEnd(), byDefault({ maxAttempts: 3 }), ['error', 'retried'], [], ['execution']],
  [
    'error, routed by onExhausted',
    {},
    faultEnd(),
    byDefault({ onExhausted: ['recover'] }),
    ['error', 'policy_routed'],
    [],
    ['execution'],
  ],
  ['error, routed by _on_error', onError, faultEnd(), {}, ['error', 'policy_routed'], [], ['execution']],
  ['error, exhausted', {}, faultEnd(), byDefault({}), ['error'], ['policy_exhausted'], ['execution']],
  [
    'error, not retryable',
    {},
    faultEnd(),
    { rules: [{ errors: ['ValueError'], policy: 'noRetry' }] },
    ['error'],
    ['policy_exhausted'],
    ['execution'],
  ],
  ['error, no policy', {}, faultEnd(), {}, ['error'], ['runtime_error'], ['execution']],
  [
    'SLA passed on arrival',
    { status: { deadline_at: at(-1) } },
    valueEnd(1),
    {},
    ['sla_expired'],
    ['sla_timeout'],
    [],
  ],
  ['SLA passed during the call', soon, TIMEOUT, {}, ['sla_expired'], ['sla_timeout'], []],
  [
    'SLA would pass before the retry',
    soon,
    faultEnd(),
    byDefault({ maxAttempts: 3, initialDelay: '1m' }),
    ['error', 'sla_expired'],
    ['sla_timeout'],
    ['execution'],
  ],
  ['actor timeout', {}, TIMEOUT, {}, ['error'], ['timeout'], ['timeout']],
  [
    'actor timeout, retried by a rule',
    {},
    TIMEOUT,
    byRule(['TimeoutError'], { maxAttempts: 3 }),
    ['error', 'retried'],
    [],
    ['timeout'],
  ],
  [
    'actor timeout, exhausted by a rule',
    {},
    TIMEOUT,
    byRule(['TimeoutError'], {}),
    ['error'],
    ['policy_exhausted'],
    ['timeout'],
  ],
  ['actor timeout, routed by _on_error', onError, TIMEOUT, {}, ['error', 'policy_routed'], [], ['timeout']],
  ['connection failure, retried', {}, UNREACHABLE, {}, ['error', 'retried'], [], ['connection']],
  [
    'connection failure, after the last attempt',
    lastConnection,
    UNREACHABLE,
    {},
    ['error'],
    ['runtime_error'],
    ['connection'],
  ],
  [
    'connection failure, exhausted',
    {},
    UNREACHABLE,
    byDefault({}),
    ['error'],
    ['policy_exhausted'],
    ['connection'],
  ],
  ['not JSON', 'nonsense', valueEnd(1), {}, [], ['parse_error'], []],
  ['not an envelope', '{}', valueEnd(1), {}, [], ['validation_error'], []],
  ['mismatch', { route: { prev: [], curr: 'other', next: [] } }, valueEnd(1), {}, [], ['route_mismatch'], []],
  [
    'escalated',
    {},
    faultEnd(),
    byDefault({ onExhausted: { action: 'escalate', topic: 't' } }),
    ['error', 'escalated'],
    [],
    ['execution'],
  ],
  [
    'dropped',
    {},
    faultEnd(),
    byDefault({ onExhausted: { action: 'drop' } }),
    ['error', 'dropped'],
    [],
    ['execution'],
  ],
  [
    'a route change that is not allowed',
    {},
    { kind: 'frames', frames: [{ payload: '1' as never, next: ['x-sump'] }] },
    {},
    [],
    ['validation_error'],
    [],
  ],
  [
    'a result that is too large',
    {},
    valueEnd('x'.repeat(999)),
    { limits: { maxBodyBytes: 500 } },
    [],
    ['runtime_error'],
    [],
  ],
  ['hop budget used up', {}, valueEnd(1), { actor: { maxHops: 1 } }, [], ['runtime_error'], []],
  ['canceled', { status: { phase: 'canceled' } }, valueEnd(1), {}, ['canceled'], [], []],
  ['resent because the host has no time left', {}, valueEnd(1), { hostTimeLeftMs: 1 }, ['returned'], [], []],
  ['resent after an interruption', {}, { kind: 'interrupted' }, {}, ['returned'], [], []],
  ['not due', { headers: { 'x-asya-not-before': at(9) } }, valueEnd(1), {}, ['deferred'], [], []],
];

function planOf(envelope: object | string, callEnd: CallResult, setting: Setting): Plan {
  const received = typeof envelope === 'string' ? envelope : anEnvelope(envelope as Record<string, unknown>);
  return handle(received, callEnd, setting).plan;
}

describe('the facts of a plan', () => {
  it.each(TABLE)('%s', (_outcome, envelope, callEnd, setting, result, failed, errorType) => {
    expect(factLabelsOf(planOf(envelope, callEnd, setting))).toEqual({ result, failed, errorType });
  });

  it('a retry that could not be sent', () => {
    const labels = { result: ['error'], failed: ['retry_send_failed'], errorType: ['execution'] };
    const retried = planOf({}, faultEnd(), byDefault({ maxAttempts: 3 }));
    expect(factLabelsOf(planAfterRefusal(retried))).toEqual(labels);
    const undelayed = planOf({}, faultEnd(), { ...byDefault({ maxAttempts: 3 }), limits: { maxDelayMs: 0 } });
    expect(factLabelsOf(undelayed)).toEqual(labels);
  });

  it.each(TABLE.filter(([, , callEnd]) => callEnd.kind === 'frames'))(
    'a refused send is not acknowledged: %s',
    (_outcome, envelope, callEnd, setting) => {
      const { otherwise, ...plan } = planOf(envelope, callEnd, setting);
      const refused = planAfterRefusal(otherwise ?? plan);
      expect(refused.settle).toBe('release');
      expect(refused.dispatches).toEqual([]);
      expect(factLabelsOf(refused)).toEqual({ result: [], failed: ['transport_error'], errorType: [] });
    },
  );
});

describe('a plan also contains facts about', () => {
  it('each send: destination and type', () => {
    expect(planOf({}, valueEnd(1, 2), {}).facts).toEqual([
      { fact: 'result', result: 'success' },
      { fact: 'sent', to: 'store', type: 'next' },
      { fact: 'sent', to: 'store', type: 'next' },
    ]);
    expect(
      planOf({}, faultEnd(), byDefault({ onExhausted: { action: 'escalate', topic: 't' } })).facts,
    ).toEqual([
      { fact: 'result', result: 'error' },
      { fact: 'runtime-error', errorType: 'execution' },
      { fact: 'policy', policy: 'default', maxAttempts: 1 },
      { fact: 'result', result: 'escalated' },
      { fact: 'sent', to: 't', type: 'escalation' },
      { fact: 'sent', to: 'x-sink', type: 'sink' },
    ]);
  });

  it('the policy and rule that decided', () => {
    const setting: Setting = {
      policies: { own: { maxAttempts: 3 }, default: {} },
      rules: [
        { errors: ['KeyError'], policy: 'noRetry' },
        { errors: ['ValueError'], policy: 'own' },
      ],
    };
    expect(planOf({}, faultEnd(), setting).facts).toContainEqual({
      fact: 'policy',
      policy: 'own',
      rule: 1,
      maxAttempts: 3,
    });
    expect(planOf({}, faultEnd({ type: 'KeyError' }), setting).facts).toContainEqual({
      fact: 'policy',
      policy: 'noRetry',
      rule: 0,
      maxAttempts: 1,
    });
    const withoutRule = planOf({}, faultEnd({ type: 'Odd' }), setting).facts;
    expect(withoutRule.find(({ fact }) => fact === 'policy')).toStrictEqual({
      fact: 'policy',
      policy: 'default',
      maxAttempts: 1,
    });
    expect(planOf({}, faultEnd(), {}).facts.some(({ fact }) => fact === 'policy')).toBe(false);
    expect(planOf(onError, faultEnd(), setting).facts.some(({ fact }) => fact === 'policy')).toBe(false);
  });

  it('no maximum of attempts if only time limits them', () => {
    const { facts } = planOf({}, faultEnd(), byDefault({ maxAttempts: 'unlimited', maxDuration: '1h' }));
    expect(facts.find(({ fact }) => fact === 'policy')).toStrictEqual({ fact: 'policy', policy: 'default' });
  });

  it('no keys without a value', () => {
    for (const [, envelope, callEnd, setting] of TABLE) {
      const { facts, dispatches } = planOf(envelope, callEnd, setting);
      for (const fields of [...facts, ...dispatches.map((dispatch) => dispatch.envelope.status ?? {})]) {
        expect(Object.values(fields)).not.toContain(undefined);
      }
    }
  });

  it('no ids', () => {
    for (const [, envelope, callEnd, setting] of TABLE) {
      expect(JSON.stringify(planOf(envelope, callEnd, setting).facts)).not.toContain('e-1');
    }
  });
});
