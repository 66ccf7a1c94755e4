import type { IncomingHttpHeaders } from 'node:http';
import { BadRequest } from '../bad-request.ts';
import { valueAt } from '../value-at.ts';

/** What a handler gets besides its payload. In the payload protocol over the socket, every field is empty. */
export interface HandlerContext {
  readonly envelopeId: string | undefined;
  readonly attempt: number | undefined;
  readonly deadline: string | undefined;
  readonly traceparent: string | undefined;
  /** In the envelope protocol the envelope's headers, which the handler may change; otherwise the HTTP request's. */
  headers: Record<string, unknown>;
  /** Only in the envelope protocol. */
  readonly envelope: Envelope | undefined;
  /** The rest of the route. Assign it to change the route. */
  routeNext: readonly string[] | undefined;
}

export interface Envelope {
  readonly id: string;
  readonly route: {
    readonly prev: readonly string[];
    readonly curr: string;
    readonly next: readonly string[];
  };
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly payload: unknown;
  readonly status?: Readonly<Record<string, unknown>>;
}

export function contextFromHttp(headers: IncomingHttpHeaders): HandlerContext {
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
    headers: { ...headers },
    envelope: undefined,
    routeNext: undefined,
  };
}

/** Throws a BadRequest if the value is not an envelope. */
export function contextFromEnvelope(envelope: unknown): HandlerContext {
  if (!isEnvelope(envelope)) {
    throw new BadRequest(
      'the request body is not an envelope, which ASYA_RUNTIME_PROTOCOL=envelope requires: ' +
        'it needs a payload and a route with prev, curr and next',
    );
  }
  return {
    envelopeId: envelope.id,
    attempt: valueAt(envelope, 'status.attempt') as number | undefined,
    deadline: valueAt(envelope, 'status.deadline_at') as string | undefined,
    traceparent: valueAt(envelope, 'headers.traceparent') as string | undefined,
    headers: { ...envelope.headers },
    envelope,
    routeNext: [...envelope.route.next],
  };
}

function isEnvelope(value: unknown): value is Envelope {
  const route = (key: string): unknown => valueAt(value, `route.${key}`);
  return (
    valueAt(value, 'payload') !== undefined &&
    typeof route('curr') === 'string' &&
    Array.isArray(route('prev')) &&
    isStringArray(route('next'))
  );
}

export function isStringArray(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
