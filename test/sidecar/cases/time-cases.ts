import { type DeliveryCase, inSeconds, noRetryWithoutDelays, toSink } from './delivery-case.ts';

const failed = (reason: string, more: object = {}) => ({ phase: 'failed', reason, ...more });
const ACTOR_TIMEOUT = { type: 'ActorTimeout', mro: ['TimeoutError', 'Exception'] };

/** SPEC.md section 5, and lost connections to the runtime. */
export const TIME_CASES: readonly DeliveryCase[] = [
  {
    name: 'a call without an answer ends as ActorTimeout, whatever the default policy',
    at: 'frail',
    payload: { do: 'hang', times: 9 },
    calls: 1,
    ends: ({ payload }) => [
      toSink({ payload, status: failed('ActorTimeout', { attempt: 1, error: ACTOR_TIMEOUT }) }),
    ],
  },
  {
    name: 'the next call has a new runtime',
    at: 'frail',
    payload: { value: 'afresh' },
    calls: 1,
    ends: () => [toSink({ payload: 'afresh', status: { phase: 'succeeded', attempt: 1 } })],
  },
  {
    name: 'retries a timeout if a rule matches it',
    at: 'hopeful',
    payload: { do: 'hang', value: 'awake' },
    calls: 2,
    ends: () => [toSink({ payload: 'awake', status: { phase: 'succeeded', attempt: 2 } })],
    withoutDelays: noRetryWithoutDelays(),
  },
  {
    name: 'ends as Timeout if the deadline is shorter than the actor timeout',
    at: 'whole',
    payload: { do: 'hang', times: 9 },
    more: () => ({ status: { deadline_at: inSeconds(12) }, headers: { _on_error: 'repair' } }),
    calls: 1,
    ends: ({ payload }) => [
      toSink({ payload, status: failed('Timeout', { error: { type: 'DeadlineExceeded' } }) }),
    ],
  },
  {
    name: 'does not send a retry that would arrive too late',
    at: 'score',
    payload: { do: 'raise', error: 'ThrottledError', status_code: 503, retry_after: 600, times: 9 },
    more: () => ({ status: { deadline_at: inSeconds(120) } }),
    calls: 1,
    ends: () => [toSink({ status: failed('Timeout', { max_attempts: 2 }) })],
  },
  {
    name: 'retries after a second if the runtime dies during the call',
    at: 'whole',
    payload: { do: 'die', value: 'back' },
    calls: 2,
    minMs: 1_000,
    ends: () => [
      toSink({ payload: 'back', status: { phase: 'succeeded', attempt: 2 } }, { lacks: ['error'] }),
    ],
    withoutDelays: noRetryWithoutDelays(),
  },
  {
    name: 'applies the default policy to a lost connection',
    at: 'hopeful',
    payload: { do: 'exit', times: 9 },
    calls: 2,
    ends: () => [
      toSink({
        status: failed('PolicyExhausted', { attempt: 2, error: { type: 'RuntimeConnectionError' } }),
      }),
    ],
    withoutDelays: noRetryWithoutDelays(),
  },
  {
    name: '_on_error routes a lost connection like any other error',
    at: 'frail',
    payload: { do: 'die', times: 9 },
    more: () => ({ headers: { _on_error: 'repair' } }),
    calls: 1,
    ends: ({ payload }) => [
      {
        queue: 'repair',
        like: {
          payload,
          route: { prev: ['frail'], curr: 'repair', next: [] },
          status: failed('PolicyRouted', {
            error: { type: 'RuntimeConnectionError', mro: ['ConnectionError', 'Exception'] },
          }),
        },
      },
    ],
  },
];
