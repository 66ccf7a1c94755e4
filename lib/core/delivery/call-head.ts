import type { Envelope } from '../envelope/envelope.ts';
import { headerText } from '../envelope/headers.ts';
import { hopOf } from '../envelope/route.ts';

/**
 * The head of a call in the `asya:` protocol: everything that a handler may know about its envelope, as JSON. Header
 * values are copied as they arrived. Without a timeout, the handler has no limit.
 */
export function callHead(envelope: Envelope, actor: string, timeoutMs: number | undefined): string {
  const { id, parent_id, route, headers, status } = envelope;
  const head = JSON.stringify({
    id,
    parent_id,
    actor,
    hop: hopOf(route),
    attempt: status?.attempt ?? 1,
    max_attempts: typeof status?.max_attempts === 'number' ? status.max_attempts : undefined,
    deadline: status?.deadline_at,
    timeout_ms: timeoutMs,
    route,
    traceparent: headerText(headers, 'traceparent'),
    tracestate: headerText(headers, 'tracestate'),
    error: status?.cause,
  });
  const texts = Array.from(headers, ([name, value]) => `${JSON.stringify(name)}:${value}`);
  return `${head.slice(0, -1)},"headers":{${texts.join(',')}}}`;
}
