import { type DeliveryCase, inSeconds, toSink } from './delivery-case.ts';

const COMPLETED = { phase: 'succeeded', reason: 'Completed' };
const BYTES = '{"do":"raise","error":"UnmatchedError","n":12345678901234567890,"twice":1,"twice": 2.50}';

/** SPEC.md section 3, outcomes: what the runtime returns. */
export const OUTCOME_CASES: readonly DeliveryCase[] = [
  {
    name: 'sends a value to the next actor, advances the route and keeps everything else',
    at: 'score',
    payload: { value: { n: 1 } },
    more: () => ({
      route: { prev: ['fetch'], curr: 'score', next: ['store', 'notify'] },
      parent_id: 'parent',
      status: { deadline_at: inSeconds(300) },
      team: { is: 'kept' },
    }),
    calls: 1,
    ends: () => [
      {
        queue: 'store',
        like: {
          parent_id: 'parent',
          route: { prev: ['fetch', 'score'], curr: 'store', next: ['notify'] },
          payload: { n: 1 },
          status: { phase: 'pending', actor: 'score', attempt: 1 },
          team: { is: 'kept' },
        },
        lacks: ['reason', 'error'],
      },
    ],
  },
  ...[0, false, '', {}, { error: 'no error object' }].map(
    (value): DeliveryCase => ({
      name: `treats ${JSON.stringify(value)} as a value`,
      at: 'score',
      payload: { value },
      ends: () => [
        toSink({ payload: value, route: { prev: ['score'], curr: '', next: [] }, status: COMPLETED }),
      ],
    }),
  ),
  {
    name: 'fans out an array: item 0 keeps the id, the others get their own id and a parent_id',
    at: 'score',
    payload: { value: [{ k: 0 }, [1], null] },
    more: () => ({ route: { prev: [], curr: 'score', next: ['store'] } }),
    ends: ({ id }) => [
      { queue: 'store', like: { payload: { k: 0 }, id } },
      ...[[1], null].map((payload) => ({
        queue: 'store',
        like: { payload, parent_id: id, route: { prev: ['score'], curr: 'store', next: [] } },
        matches: (arrived: { id: string }) => arrived.id !== id,
      })),
    ],
  },
  ...[null, []].map(
    (value): DeliveryCase => ({
      name: `ends the route as succeeded for ${JSON.stringify(value)}, with the original payload`,
      at: 'score',
      payload: { value },
      more: () => ({ route: { prev: ['fetch'], curr: 'score', next: ['store'] } }),
      ends: ({ payload, route }) => [toSink({ payload, route, status: COMPLETED })],
    }),
  ),
  ...[[], [1, 2]].map(
    (value): DeliveryCase => ({
      name: `treats ${JSON.stringify(value)} as one value with ASYA_FANOUT=never`,
      at: 'whole',
      payload: { value },
      ends: () => [toSink({ payload: value, route: { prev: ['whole'] }, status: COMPLETED })],
    }),
  ),
  {
    name: 'keeps the bytes of the payload in a failure',
    at: 'whole',
    payload: null,
    body: ({ id, route, headers }) =>
      `{"id":"${id}","route":${JSON.stringify(route)},"headers":${JSON.stringify(headers)},"payload":${BYTES}}`,
    ends: () => [toSink({ status: { reason: 'RuntimeError' } }, { bodyContains: `"payload":${BYTES}` })],
  },
  {
    name: 'an end actor accepts any route and status, and sends nothing',
    at: 'archive',
    payload: { value: [1, 2] },
    more: () => ({
      route: { prev: [], curr: '', next: [] },
      status: { phase: 'canceled', deadline_at: inSeconds(-60) },
    }),
    calls: 1,
    settle: 'ack',
    ends: () => [],
  },
  {
    name: 'an end actor releases a delivery after a runtime error',
    at: 'archive',
    payload: { do: 'raise', error: 'ValueError' },
    settle: 'release',
    ends: () => [],
  },
];
