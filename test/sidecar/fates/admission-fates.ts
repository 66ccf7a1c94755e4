import type { Wire } from '../envelopes.ts';
import { type Fate, inSeconds, toSink } from './fate.ts';

const unreadable = (reason: string, message: RegExp, payload: (sent: Wire) => object): Fate['ends'] => {
  return (sent) => [
    toSink(
      {
        payload: payload(sent),
        route: { prev: [], curr: 'score', next: [] },
        status: { phase: 'failed', reason, actor: 'score', error: { type: reason } },
      },
      { holds: ({ status }) => message.test(status?.error?.message ?? '') },
    ),
  ];
};

const notJson = ({ id }: Wire) => `{"id":"${id}"`;
const notAnObject = ({ id }: Wire) => `["${id}"]`;
const noPayload = ({ id }: Wire) => `{"id":"${id}","route":{"prev":[],"curr":"score","next":[]}}`;
const notText = ({ id }: Wire) => Buffer.concat([Buffer.from(`{"id":"${id}`), Buffer.from([0xff, 0xfe])]);

/** SPEC.md section 3, decode and admit: what never reaches the runtime. */
export const ADMISSION_FATES: readonly Fate[] = [
  {
    name: 'a body that is not JSON fails with all that came',
    at: 'score',
    payload: null,
    body: notJson,
    ends: unreadable('ParseError', /the text ends at line 1/, (sent) => ({ raw: notJson(sent) })),
  },
  {
    name: 'a body that is not UTF-8 fails with all that came, in base64',
    at: 'score',
    payload: null,
    body: notText,
    needsAnyBytes: true,
    ends: unreadable('ParseError', /UTF-8/, (sent) => ({ raw_base64: notText(sent).toString('base64') })),
  },
  {
    name: 'a body that is not an object fails with all that came',
    at: 'score',
    payload: null,
    body: notAnObject,
    ends: unreadable('ValidationError', /not an object/, (sent) => ({ raw: notAnObject(sent) })),
  },
  {
    name: 'a body without a payload fails with all that came, under its id',
    at: 'score',
    payload: null,
    body: noPayload,
    ends: (sent) => [
      toSink({
        id: sent.id,
        payload: { raw: noPayload(sent) },
        status: { phase: 'failed', reason: 'ValidationError' },
      }),
    ],
  },
  {
    name: 'an envelope for another actor fails',
    at: 'score',
    payload: { value: 1 },
    more: () => ({ route: { prev: [], curr: 'somebody-else', next: [] } }),
    calls: 0,
    ends: ({ payload, route }) => [
      toSink({ payload, route, status: { phase: 'failed', reason: 'RouteMismatch' } }),
    ],
  },
  {
    name: 'an envelope that is not due yet waits, and no attempt is counted',
    at: 'score',
    payload: { value: 7 },
    more: () => ({ headers: { 'x-asya-not-before': inSeconds(1.2) } }),
    calls: 1,
    noSoonerThanMs: 1_200,
    ends: () => [
      toSink(
        { payload: 7, status: { phase: 'succeeded', attempt: 1 } },
        { holds: ({ headers }) => !('x-asya-not-before' in headers) },
      ),
    ],
    withoutDelays: {
      calls: 0,
      ends: ({ payload }) => [toSink({ payload, status: { phase: 'failed', reason: 'RuntimeError' } })],
    },
  },
  {
    name: 'an envelope that has passed too many actors ends',
    at: 'score',
    payload: { value: 1 },
    more: () => ({ route: { prev: ['a', 'b', 'a'], curr: 'score', next: ['store'] } }),
    calls: 0,
    ends: ({ route }) => [
      toSink({
        route,
        status: { phase: 'failed', reason: 'RuntimeError', error: { type: 'HopBudgetExceeded' } },
      }),
    ],
  },
  ...[-5, 0.9].map(
    (seconds): Fate => ({
      name: `a deadline ${seconds < 0 ? 'passed' : 'about to pass'} ends it without a call`,
      at: 'score',
      payload: { value: 1 },
      more: () => ({ status: { deadline_at: inSeconds(seconds) } }),
      calls: 0,
      ends: ({ payload }) => [
        toSink({
          payload,
          status: { phase: 'failed', reason: 'Timeout', error: { type: 'DeadlineExceeded' } },
        }),
      ],
    }),
  ),
  {
    name: 'a canceled envelope goes to the sink as it is, and nobody is called',
    at: 'score',
    payload: { value: 1 },
    more: () => ({ status: { phase: 'canceled', actor: 'fetch', attempt: 2 } }),
    calls: 0,
    ends: (sent) => [toSink({ ...sent }, { says: JSON.stringify(sent.status), lacks: ['reason', 'error'] })],
  },
  {
    name: 'the older shape of a route is read, the new one written',
    at: 'score',
    payload: { value: 1 },
    body: (sent) => JSON.stringify({ ...sent, route: { actors: ['fetch', 'score', 'store'], current: 1 } }),
    ends: () => [
      { queue: 'store', like: { route: { prev: ['fetch', 'score'], curr: 'store', next: [] }, payload: 1 } },
    ],
  },
];
