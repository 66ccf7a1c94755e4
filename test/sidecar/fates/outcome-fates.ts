import { type Fate, inSeconds, toSink } from './fate.ts';

const COMPLETED = { phase: 'succeeded', reason: 'Completed' };
const BYTES = '{"do":"raise","error":"UnheardOfError","n":12345678901234567890,"twice":1,"twice": 2.50}';

/** SPEC.md section 3, outcomes: what the runtime says. */
export const OUTCOME_FATES: readonly Fate[] = [
  {
    name: 'a value goes to the next actor with the route shifted, and all that is not ours untouched',
    at: 'score',
    payload: { value: { n: 1 } },
    more: () => ({
      route: { prev: ['fetch'], curr: 'score', next: ['store', 'tell'] },
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
          route: { prev: ['fetch', 'score'], curr: 'store', next: ['tell'] },
          payload: { n: 1 },
          status: { phase: 'pending', actor: 'score', attempt: 1 },
          team: { is: 'kept' },
        },
        lacks: ['reason', 'error'],
      },
    ],
  },
  ...[0, false, '', {}, { error: 'no error object' }].map(
    (value): Fate => ({
      name: `${JSON.stringify(value)} is a value like any other`,
      at: 'score',
      payload: { value },
      ends: () => [
        toSink({ payload: value, route: { prev: ['score'], curr: '', next: [] }, status: COMPLETED }),
      ],
    }),
  ),
  {
    name: 'an array fans out: the first keeps the id, the others have their own and a parent',
    at: 'score',
    payload: { value: [{ k: 0 }, [1], null] },
    more: () => ({ route: { prev: [], curr: 'score', next: ['store'] } }),
    ends: ({ id }) => [
      { queue: 'store', like: { payload: { k: 0 }, id } },
      ...[[1], null].map((payload) => ({
        queue: 'store',
        like: { payload, parent_id: id, route: { prev: ['score'], curr: 'store', next: [] } },
        holds: (arrived: { id: string }) => arrived.id !== id,
      })),
    ],
  },
  ...[null, []].map(
    (value): Fate => ({
      name: `${JSON.stringify(value)} ends the route well, with the payload that came`,
      at: 'score',
      payload: { value },
      more: () => ({ route: { prev: ['fetch'], curr: 'score', next: ['store'] } }),
      ends: ({ payload, route }) => [toSink({ payload, route, status: COMPLETED })],
    }),
  ),
  ...[[], [1, 2]].map(
    (value): Fate => ({
      name: `ASYA_FANOUT=never makes ${JSON.stringify(value)} one value`,
      at: 'whole',
      payload: { value },
      ends: () => [toSink({ payload: value, route: { prev: ['whole'] }, status: COMPLETED })],
    }),
  ),
  {
    name: 'a failure keeps the bytes of the payload',
    at: 'whole',
    payload: null,
    body: ({ id, route, headers }) =>
      `{"id":"${id}","route":${JSON.stringify(route)},"headers":${JSON.stringify(headers)},"payload":${BYTES}}`,
    ends: () => [toSink({ status: { reason: 'RuntimeError' } }, { says: `"payload":${BYTES}` })],
  },
  {
    name: 'an end actor takes what comes, whatever its route and status, and sends nothing on',
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
    name: 'an end actor keeps what its runtime failed at',
    at: 'archive',
    payload: { do: 'raise', error: 'ValueError' },
    settle: 'release',
    ends: () => [],
  },
];
