import type { Wire } from '../envelopes.ts';
import { type DeliveryCase, inSeconds, toSink } from './delivery-case.ts';

const unreadable = (
  reason: string,
  message: RegExp,
  payload: (sent: Wire) => object,
): DeliveryCase['ends'] => {
  return (sent) => [
    toSink(
      {
        payload: payload(sent),
        route: { prev: [], curr: 'score', next: [] },
        status: { phase: 'failed', reason, actor: 'score', error: { type: reason } },
      },
      { matches: ({ status }) => message.test(status?.error?.message ?? '') },
    ),
  ];
};

const notJson = ({ id }: Wire) => `{"id":"${id}"`;
const notAnObject = ({ id }: Wire) => `["${id}"]`;
const noPayload = ({ id }: Wire) => `{"id":"${id}","route":{"prev":[],"curr":"score","next":[]}}`;
const notText = ({ id }: Wire) => Buffer.concat([Buffer.from(`{"id":"${id}`), Buffer.from([0xff, 0xfe])]);

/** SPEC.md section 3, decode and admit: envelopes that do not reach the runtime. */
export const ADMISSION_CASES: readonly DeliveryCase[] = [
  {
    name: 'fails a body that is not JSON, and keeps the body',
    at: 'score',
    payload: null,
    body: notJson,
    ends: unreadable('ParseError', /unexpected end of text at line 1/, (sent) => ({ raw: notJson(sent) })),
  },
  {
    name: 'fails a body that is not UTF-8, and keeps the body in base64',
    at: 'score',
    payload: null,
    body: notText,
    needsAnyBytes: true,
    ends: unreadable('ParseError', /UTF-8/, (sent) => ({ raw_base64: notText(sent).toString('base64') })),
  },
  {
    name: 'fails a body that is not an object, and keeps the body',
    at: 'score',
    payload: null,
    body: notAnObject,
    ends: unreadable('ValidationError', /the body is an array; expected an object/, (sent) => ({
      raw: notAnObject(sent),
    })),
  },
  {
    name: 'fails a body without a payload, and keeps the body and the id',
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
    name: 'fails an envelope for another actor',
    at: 'score',
    payload: { value: 1 },
    more: () => ({ route: { prev: [], curr: 'another-actor', next: [] } }),
    calls: 0,
    ends: ({ payload, route }) => [
      toSink({ payload, route, status: { phase: 'failed', reason: 'RouteMismatch' } }),
    ],
  },
  {
    name: 'delays an envelope that is not due yet, without counting an attempt',
    at: 'score',
    payload: { value: 7 },
    more: () => ({ headers: { 'x-asya-not-before': inSeconds(1.2) } }),
    calls: 1,
    minMs: 1_200,
    ends: () => [
      toSink(
        { payload: 7, status: { phase: 'succeeded', attempt: 1 } },
        { matches: ({ headers }) => !('x-asya-not-before' in headers) },
      ),
    ],
    withoutDelays: {
      calls: 0,
      ends: ({ payload }) => [toSink({ payload, status: { phase: 'failed', reason: 'RuntimeError' } })],
    },
  },
  {
    name: 'fails an envelope that exceeds the hop budget',
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
    (seconds): DeliveryCase => ({
      name: `fails an envelope whose deadline ${seconds < 0 ? 'has passed' : 'is less than 1 s away'}, without a call`,
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
    name: 'sends a canceled envelope to x-sink unchanged, without a call',
    at: 'score',
    payload: { value: 1 },
    more: () => ({ status: { phase: 'canceled', actor: 'fetch', attempt: 2 } }),
    calls: 0,
    ends: (sent) => [
      toSink({ ...sent }, { bodyContains: JSON.stringify(sent.status), lacks: ['reason', 'error'] }),
    ],
  },
  {
    name: 'reads the older route shape and writes the new one',
    at: 'score',
    payload: { value: 1 },
    body: (sent) => JSON.stringify({ ...sent, route: { actors: ['fetch', 'score', 'store'], current: 1 } }),
    ends: () => [
      { queue: 'store', like: { route: { prev: ['fetch', 'score'], curr: 'store', next: [] }, payload: 1 } },
    ],
  },
];
