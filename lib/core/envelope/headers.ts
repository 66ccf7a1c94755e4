import { type JsonText, jsonText, stringFromJson } from '../text/json-text.ts';
import type { Headers } from './envelope.ts';

/** The headers that the mesh reads and writes. */

export const NOT_BEFORE = 'x-asya-not-before';
export const ON_ERROR = '_on_error';
export const DEADLINE_AT = 'deadline_at';
export const EVENT_TIME = 'event_time';
export const TASK = 'x-asya-task';
export const FLOW = 'x-asya-flow';
export const REPLAY = 'x-asya-replay';

export const NO_HEADERS: Headers = new Map();

/** The header's value if it is a string. */
export function headerText(headers: Headers, name: string): string | undefined {
  return stringFromJson(headers.get(name));
}

export function withHeader(headers: Headers, name: string, value: string): Headers {
  return new Map(headers).set(name, jsonText(value));
}

export function withoutHeader(headers: Headers, name: string): Headers {
  if (!headers.has(name)) return headers;
  const rest = new Map(headers);
  rest.delete(name);
  return rest;
}

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Whether the text is a valid W3C `traceparent`. An invalid one has to be ignored. */
export function isTraceparent(text: string): boolean {
  return TRACEPARENT.test(text);
}

/** Trace context, deadline and `x-asya-*` belong to the sidecar: a handler can neither set nor remove them. */
export function isSidecarHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return (
    lower === 'traceparent' || lower === 'tracestate' || lower === DEADLINE_AT || lower.startsWith('x-asya-')
  );
}

/** The handler's headers replace the given ones, except for those that belong to the sidecar. */
export function headersFromHandler(given: Headers, answered: ReadonlyMap<string, JsonText>): Headers {
  const theirs = [...answered].filter(([name]) => !isSidecarHeader(name));
  const ours = [...given].filter(([name]) => isSidecarHeader(name));
  return new Map([...ours, ...theirs]);
}

const CORRELATION_HEADERS = ['traceparent', 'tracestate', TASK, FLOW, REPLAY];

/** The headers that link an unreadable envelope to its trace, task, flow and replay. */
export function correlationHeaders(headers: ReadonlyMap<string, JsonText>): Headers {
  return new Map(
    [...headers].filter(
      ([name, value]) => CORRELATION_HEADERS.includes(name) && stringFromJson(value) !== undefined,
    ),
  );
}
