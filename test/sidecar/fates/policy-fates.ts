import { type Fate, noRetryWithoutDelays, toSink } from './fate.ts';

export const POLICIES = {
  slow: { maxAttempts: 3, backoff: 'constant', initialDelay: '300ms' },
  quick: { maxAttempts: 2 },
  polite: { maxAttempts: 2, backoff: 'constant' },
  routed: { onExhausted: ['mend', 'tell'] },
  loud: { onExhausted: { action: 'escalate', topic: 'alarms' } },
  silent: { onExhausted: { action: 'drop' } },
};

/** The order matters: a SlowDownError is a ThrottledError too. */
export const RULES = [
  { errors: ['http:503'], policy: 'polite' },
  { errors: ['http:4xx', 'TypeError'], policy: 'noRetry' },
  { errors: ['ValueError'], policy: 'slow' },
  { errors: ['RuntimeError'], policy: 'quick' },
  { errors: ['KeyError'], policy: 'routed' },
  { errors: ['SlowDownError'], policy: 'loud' },
  { errors: ['ThrottledError'], policy: 'silent' },
];

const raising = (error: string, more: object = {}) => ({ do: 'raise', error, times: 9, ...more });
const failed = (reason: string, more: object = {}) => ({ phase: 'failed', reason, ...more });

/** SPEC.md section 4. */
export const POLICY_FATES: readonly Fate[] = [
  {
    name: 'an error is retried after the delay, and the retry that succeeds goes on',
    at: 'score',
    payload: raising('ValueError', { times: 1, value: 'at last' }),
    calls: 2,
    noSoonerThanMs: 300,
    ends: () => [
      toSink({ payload: 'at last', status: { phase: 'succeeded', attempt: 2 } }, { lacks: ['error'] }),
    ],
    withoutDelays: noRetryWithoutDelays(),
  },
  {
    name: 'without an attempt left it ends as exhausted, the payload as it came',
    at: 'score',
    payload: raising('RuntimeError'),
    calls: 2,
    ends: ({ payload, route }) => [
      toSink({
        payload,
        route,
        status: failed('PolicyExhausted', { attempt: 2, max_attempts: 2, error: { message: 'as told' } }),
      }),
    ],
    withoutDelays: noRetryWithoutDelays(),
  },
  {
    name: 'a rule for an HTTP status waits for as long as the error asks',
    at: 'score',
    payload: raising('ThrottledError', { status_code: 503, retry_after: 2, times: 1 }),
    calls: 2,
    noSoonerThanMs: 2_000,
    ends: () => [toSink({ status: { phase: 'succeeded', attempt: 2 } })],
    withoutDelays: noRetryWithoutDelays(),
  },
  {
    name: 'noRetry ends at once',
    at: 'score',
    payload: raising('TypeError'),
    calls: 1,
    ends: ({ payload }) => [
      toSink({ payload, status: failed('NonRetryableFailure', { attempt: 1, max_attempts: 1 }) }),
    ],
  },
  {
    name: 'a rule for a class of HTTP statuses',
    at: 'score',
    payload: raising('ThrottledError', { status_code: 418 }),
    calls: 1,
    ends: () => [toSink({ status: failed('NonRetryableFailure') })],
  },
  {
    name: 'onExhausted routes to its actors, as failed and with the error',
    at: 'score',
    payload: raising('KeyError'),
    more: () => ({ route: { prev: ['fetch'], curr: 'score', next: ['store'] } }),
    calls: 1,
    ends: ({ payload }) => [
      {
        queue: 'mend',
        like: {
          payload,
          route: { prev: ['fetch', 'score'], curr: 'mend', next: ['tell'] },
          status: failed('PolicyRouted', { error: { type: 'KeyError' } }),
        },
      },
    ],
  },
  {
    name: 'escalate sends to the topic and to the sink',
    at: 'score',
    payload: raising('SlowDownError'),
    calls: 1,
    ends: ({ payload }) => [
      toSink({ payload, status: failed('Escalated') }),
      { queue: 'alarms', like: { payload, status: failed('Escalated') } },
    ],
  },
  {
    name: 'drop leaves its trace in the sink; the rule takes an ancestor too',
    at: 'score',
    payload: raising('CalmDownError'),
    calls: 1,
    ends: () => [toSink({ status: failed('Dropped') })],
  },
  {
    name: 'an error that no rule takes ends as RuntimeError where there is no default',
    at: 'score',
    payload: raising('UnheardOfError'),
    calls: 1,
    ends: ({ payload }) => [toSink({ payload, status: failed('RuntimeError', { attempt: 1 }) })],
  },
  {
    name: 'an error without any policy ends at once, with what the language knows of it',
    at: 'whole',
    payload: raising('SlowDownError', { message: 'no more' }),
    calls: 1,
    ends: ({ payload }) => [
      toSink(
        { payload, status: failed('RuntimeError', { error: { message: 'no more' } }) },
        { holds: ({ status }) => status?.error?.traceback.includes('behaviours') ?? false },
      ),
    ],
  },
  {
    name: 'an error that no rule takes goes by the default',
    at: 'hopeful',
    payload: raising('UnheardOfError'),
    calls: 2,
    ends: () => [toSink({ status: failed('PolicyExhausted', { attempt: 2 }) })],
    withoutDelays: noRetryWithoutDelays(),
  },
  {
    name: '_on_error goes before every policy, and is gone from the headers',
    at: 'score',
    payload: raising('ValueError'),
    more: () => ({ headers: { _on_error: 'mend' }, route: { prev: [], curr: 'score', next: ['store'] } }),
    calls: 1,
    ends: ({ payload }) => [
      {
        queue: 'mend',
        like: {
          payload,
          route: { prev: ['score'], curr: 'mend', next: [] },
          status: failed('PolicyRouted'),
        },
        holds: ({ headers }) => !('_on_error' in headers),
      },
    ],
  },
];
