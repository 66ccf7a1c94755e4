import { type Fate, inSeconds, noRetryWithoutDelays, toSink } from './fate.ts';

const failed = (reason: string, more: object = {}) => ({ phase: 'failed', reason, ...more });
const ACTOR_TIMEOUT = { type: 'ActorTimeout', mro: ['TimeoutError', 'Exception'] };

/** SPEC.md section 5, and runtimes that are lost. */
export const TIME_FATES: readonly Fate[] = [
  {
    name: 'no answer in time ends as ActorTimeout, whatever the default says',
    at: 'frail',
    payload: { do: 'hang', times: 9 },
    calls: 1,
    ends: ({ payload }) => [
      toSink({ payload, status: failed('ActorTimeout', { attempt: 1, error: ACTOR_TIMEOUT }) }),
    ],
  },
  {
    name: 'and the next call has a runtime again',
    at: 'frail',
    payload: { value: 'afresh' },
    calls: 1,
    ends: () => [toSink({ payload: 'afresh', status: { phase: 'succeeded', attempt: 1 } })],
  },
  {
    name: 'a timeout is retried by a rule for it',
    at: 'hopeful',
    payload: { do: 'hang', value: 'awake' },
    calls: 2,
    ends: () => [toSink({ payload: 'awake', status: { phase: 'succeeded', attempt: 2 } })],
    withoutDelays: noRetryWithoutDelays(),
  },
  {
    name: 'where the deadline is the tighter bound, it is the deadline that ran out',
    at: 'whole',
    payload: { do: 'hang', times: 9 },
    more: () => ({ status: { deadline_at: inSeconds(12) }, headers: { _on_error: 'mend' } }),
    calls: 1,
    ends: ({ payload }) => [
      toSink({ payload, status: failed('Timeout', { error: { type: 'DeadlineExceeded' } }) }),
    ],
  },
  {
    name: 'a retry that would come too late is not sent',
    at: 'score',
    payload: { do: 'raise', error: 'ThrottledError', status_code: 503, retry_after: 600, times: 9 },
    more: () => ({ status: { deadline_at: inSeconds(120) } }),
    calls: 1,
    ends: () => [toSink({ status: failed('Timeout', { max_attempts: 2 }) })],
  },
  {
    name: 'a runtime that dies during the call is an error of the connection, retried after a second',
    at: 'whole',
    payload: { do: 'die', value: 'back' },
    calls: 2,
    noSoonerThanMs: 1_000,
    ends: () => [
      toSink({ payload: 'back', status: { phase: 'succeeded', attempt: 2 } }, { lacks: ['error'] }),
    ],
    withoutDelays: noRetryWithoutDelays(),
  },
  {
    name: 'a lost runtime goes by the default where there is one',
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
    name: 'a lost runtime is routed by _on_error like any other error',
    at: 'frail',
    payload: { do: 'die', times: 9 },
    more: () => ({ headers: { _on_error: 'mend' } }),
    calls: 1,
    ends: ({ payload }) => [
      {
        queue: 'mend',
        like: {
          payload,
          route: { prev: ['frail'], curr: 'mend', next: [] },
          status: failed('PolicyRouted', {
            error: { type: 'RuntimeConnectionError', mro: ['ConnectionError', 'Exception'] },
          }),
        },
      },
    ],
  },
];
