import { type JsonText, jsonText, stringFromJson } from '../text/json-text.ts';
import type { Headers } from './envelope.ts';

export const NOT_BEFORE = 'x-asya-not-before';
export const ON_ERROR = '_on_error';
export const DEADLINE_AT = 'deadline_at';
export const EVENT_TIME = 'event_time';
export const TASK = 'x-asya-task';
export const FLOW = 'x-asya-flow';
export const REPLAY = 'x-asya-replay';

export const NO_HEADERS: Headers = new Map();

/** The header's value where it is a string. */
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

/** As W3C says: one that is broken is as none. */
export function isTraceparent(text: string): boolean {
  return TRACEPARENT.test(text);
}

/** Trace context and the mesh's own marks belong to the sidecar: a handler can neither set nor remove them. */
export function isSidecarHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return (
    lower === 'traceparent' || lower === 'tracestate' || lower === DEADLINE_AT || lower.startsWith('x-asya-')
  );
}

/** What a handler answered in place of the headers it was given. */
export function headersFromHandler(given: Headers, answered: ReadonlyMap<string, JsonText>): Headers {
  const theirs = [...answered].filter(([name]) => !isSidecarHeader(name));
  const ours = [...given].filter(([name]) => isSidecarHeader(name));
  return new Map([...ours, ...theirs]);
}

const CORRELATION_HEADERS = ['traceparent', 'tracestate', TASK, FLOW, REPLAY];

/** What an envelope that cannot be read still tells of whom it belongs to. */
export function correlationHeaders(headers: ReadonlyMap<string, JsonText>): Headers {
  return new Map(
    [...headers].filter(
      ([name, value]) => CORRELATION_HEADERS.includes(name) && stringFromJson(value) !== undefined,
    ),
  );
}
