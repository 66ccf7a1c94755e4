import { type DeliveryCase, noRetryWithoutDelays, toSink } from './delivery-case.ts';

export const POLICIES = {
  slow: { maxAttempts: 3, backoff: 'constant', initialDelay: '300ms' },
  quick: { maxAttempts: 2 },
  polite: { maxAttempts: 2, backoff: 'constant' },
  routed: { onExhausted: ['repair', 'notify'] },
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
export const POLICY_CASES: readonly DeliveryCase[] = [
  {
    name: 'retries an error after the delay, and succeeds on the second attempt',
    at: 'score',
    payload: raising('ValueError', { times: 1, value: 'at last' }),
    calls: 2,
    minMs: 300,
    ends: () => [
      toSink({ payload: 'at last', status: { phase: 'succeeded', attempt: 2 } }, { lacks: ['error'] }),
    ],
    withoutDelays: noRetryWithoutDelays(),
  },
  {
    name: 'ends as PolicyExhausted after the last attempt, with the original payload',
    at: 'score',
    payload: raising('RuntimeError'),
    calls: 2,
    ends: ({ payload, route }) => [
      toSink({
        payload,
        route,
        status: failed('PolicyExhausted', {
          attempt: 2,
          max_attempts: 2,
          error: { message: 'as requested' },
        }),
      }),
    ],
    withoutDelays: noRetryWithoutDelays(),
  },
  {
    name: 'matches an HTTP status and waits for its retry_after',
    at: 'score',
    payload: raising('ThrottledError', { status_code: 503, retry_after: 2, times: 1 }),
    calls: 2,
    minMs: 2_000,
    ends: () => [toSink({ status: { phase: 'succeeded', attempt: 2 } })],
    withoutDelays: noRetryWithoutDelays(),
  },
  {
    name: 'noRetry fails after one attempt',
    at: 'score',
    payload: raising('TypeError'),
    calls: 1,
    ends: ({ payload }) => [
      toSink({ payload, status: failed('NonRetryableFailure', { attempt: 1, max_attempts: 1 }) }),
    ],
  },
  {
    name: 'matches a class of HTTP statuses',
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
        queue: 'repair',
        like: {
          payload,
          route: { prev: ['fetch', 'score'], curr: 'repair', next: ['notify'] },
          status: failed('PolicyRouted', { error: { type: 'KeyError' } }),
        },
      },
    ],
  },
  {
    name: 'escalate sends to the topic and to x-sink',
    at: 'score',
    payload: raising('SlowDownError'),
    calls: 1,
    ends: ({ payload }) => [
      toSink({ payload, status: failed('Escalated') }),
      { queue: 'alarms', like: { payload, status: failed('Escalated') } },
    ],
  },
  {
    name: 'drop sends to x-sink as Dropped; the rule matches an ancestor',
    at: 'score',
    payload: raising('CalmDownError'),
    calls: 1,
    ends: () => [toSink({ status: failed('Dropped') })],
  },
  {
    name: 'ends as RuntimeError if no rule matches and no default is set',
    at: 'score',
    payload: raising('UnmatchedError'),
    calls: 1,
    ends: ({ payload }) => [toSink({ payload, status: failed('RuntimeError', { attempt: 1 }) })],
  },
  {
    name: 'fails at once without policies, with message and traceback',
    at: 'whole',
    payload: raising('SlowDownError', { message: 'overloaded' }),
    calls: 1,
    ends: ({ payload }) => [
      toSink(
        { payload, status: failed('RuntimeError', { error: { message: 'overloaded' } }) },
        { matches: ({ status }) => status?.error?.traceback.includes('behaviours') ?? false },
      ),
    ],
  },
  {
    name: 'applies the default policy if no rule matches',
    at: 'hopeful',
    payload: raising('UnmatchedError'),
    calls: 2,
    ends: () => [toSink({ status: failed('PolicyExhausted', { attempt: 2 }) })],
    withoutDelays: noRetryWithoutDelays(),
  },
  {
    name: '_on_error has priority over policies, and the header is removed',
    at: 'score',
    payload: raising('ValueError'),
    more: () => ({ headers: { _on_error: 'repair' }, route: { prev: [], curr: 'score', next: ['store'] } }),
    calls: 1,
    ends: ({ payload }) => [
      {
        queue: 'repair',
        like: {
          payload,
          route: { prev: ['score'], curr: 'repair', next: [] },
          status: failed('PolicyRouted'),
        },
        matches: ({ headers }) => !('_on_error' in headers),
      },
    ],
  },
];
