import type { IncomingHttpHeaders } from 'node:http';
import type { Route, RoutedError } from '../../../lib/handler/index.ts';
import { BadRequest } from '../bad-request.ts';
import { valueAt } from '../value-at.ts';
import { type CallInfo, isStringArray } from './context.ts';

/** The HTTP protocol carries four facts about the envelope as headers. */
export function infoFromHttp(headers: IncomingHttpHeaders): CallInfo {
  const text = (name: string): string | undefined => {
    const value = headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  const attempt = text('x-asya-attempt') ?? '';
  return {
    envelopeId: text('x-asya-envelope-id'),
    attempt: /^[0-9]+$/.test(attempt) ? Number(attempt) : undefined,
    deadline: text('x-asya-deadline'),
    traceparent: text('traceparent'),
  };
}

export interface Envelope {
  readonly route: Route;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly payload: unknown;
}

/** Throws a BadRequest if the value is not an envelope. */
export function infoFromEnvelope(envelope: unknown): { envelope: Envelope; info: CallInfo } {
  if (!isEnvelope(envelope)) {
    throw new BadRequest(
      'the request body is not an envelope, which ASYA_RUNTIME_PROTOCOL=envelope requires: ' +
        'it needs a payload and a route with prev, curr and next',
    );
  }
  const { route, headers = {} } = envelope;
  const at = <T>(path: string): T | undefined => valueAt(envelope, path) as T | undefined;
  const info: CallInfo = {
    envelopeId: at('id'),
    parentId: at('parent_id'),
    actor: route.curr,
    hop: route.prev.length,
    attempt: at('status.attempt'),
    maxAttempts: at('status.max_attempts'),
    deadline: at('status.deadline_at'),
    route,
    headers,
    traceparent: at('headers.traceparent'),
    tracestate: at('headers.tracestate'),
    error: at<RoutedError>('status.cause'),
  };
  return { envelope, info };
}

/** Throws a BadRequest if the head of an `asya:` call is not valid. */
export function infoFromHead(head: unknown): CallInfo {
  if (typeof valueAt(head, 'id') !== 'string' || !isRoute(valueAt(head, 'route')))
    throw new BadRequest('the head of the call has no id or no route with prev, curr and next');
  const at = <T>(path: string): T | undefined => valueAt(head, path) as T | undefined;
  return {
    envelopeId: at('id'),
    parentId: at('parent_id'),
    actor: at('actor'),
    hop: at('hop'),
    attempt: at('attempt'),
    maxAttempts: at('max_attempts'),
    deadline: at('deadline'),
    timeoutMs: at('timeout_ms'),
    route: at('route'),
    headers: at('headers'),
    traceparent: at('traceparent'),
    tracestate: at('tracestate'),
    error: at('error'),
  };
}

function isEnvelope(value: unknown): value is Envelope {
  return valueAt(value, 'payload') !== undefined && isRoute(valueAt(value, 'route'));
}

function isRoute(value: unknown): value is Route {
  return (
    typeof valueAt(value, 'curr') === 'string' &&
    Array.isArray(valueAt(value, 'prev')) &&
    isStringArray(valueAt(value, 'next'))
  );
}
