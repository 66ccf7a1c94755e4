import type { Dispatcher } from 'undici';
import { afterReads } from '../../async/after-reads.ts';
import { startTimer } from '../../async/timer.ts';
import { unlessAborted } from '../../async/until-aborted.ts';
import { answerFromHttp, type FanOut, type HttpAnswer } from '../../core/delivery/answer.ts';
import {
  answerFromEventStream,
  answerFromFramesOverHttp,
  nextFromHeader,
} from '../../core/delivery/answer-envelope.ts';
import type { CallResult } from '../../core/delivery/outcome.ts';
import { encode } from '../../core/envelope/encode.ts';
import { headerText } from '../../core/envelope/headers.ts';
import { defined } from '../../core/text/defined.ts';
import { textFromUtf8 } from '../../core/text/utf8.ts';
import type { Runtime, RuntimeRequest } from '../../ports/runtime.ts';

export interface HttpRuntimeOptions {
  /** `http://host:port/path`. Over a Unix socket the host has no effect. */
  readonly url: string;
  readonly socketPath?: string;
  readonly protocol: 'payload' | 'envelope';
  readonly fanOut: FanOut;
  readonly maxAnswerBytes: number;
  readonly connections: number;
}

/** A runtime that speaks HTTP, over TCP or a Unix socket. Connections are kept and reused. */
export async function httpRuntime(options: HttpRuntimeOptions): Promise<Runtime> {
  // Imported only if needed: a sidecar that uses the socket protocol starts faster without it.
  const { Pool } = await import('undici');
  const { origin, pathname, search } = new URL(options.url);
  const path = pathname + search;
  const inFlight = new Set<AbortController>();
  const settings = {
    pipelining: 1,
    // Only the call's own timeout applies.
    headersTimeout: 0,
    bodyTimeout: 0,
    ...defined({ socketPath: options.socketPath }),
  };
  const pool = new Pool(origin, { ...settings, connections: options.connections });
  // A separate connection, so that health checks and calls do not wait for each other.
  const healthPool = new Pool(origin, { ...settings, connections: 1 });

  async function exchange(request: RuntimeRequest, signal: AbortSignal): Promise<CallResult> {
    const response = await pool.request({
      path,
      method: 'POST',
      headers: requestHeaders(request),
      body: options.protocol === 'payload' ? request.envelope.payload : encode(request.envelope),
      signal,
    });
    return readResponse(response, request, options);
  }

  return {
    restartsItself: false,
    call: async (request) => {
      const ending = new AbortController();
      inFlight.add(ending);
      const onDue = afterReads(() => ending.abort('timeout'));
      const cancelTimer = startTimer(request.timeoutMs, onDue);
      try {
        // undici rejects only after a connection is established or has failed, even if the signal aborts before.
        return await unlessAborted(exchange(request, ending.signal), ending.signal);
      } catch (error) {
        if (ending.signal.aborted) return { kind: ending.signal.reason as 'timeout' | 'interrupted' };
        const detail = unreachableDetail(error as Error, options);
        if (isUnconnected(error)) return { kind: 'unreachable', detail, isUnsent: true };
        return isLost(error)
          ? { kind: 'unreachable', detail, isLost: true }
          : { kind: 'unreachable', detail };
      } finally {
        cancelTimer();
        inFlight.delete(ending);
      }
    },
    interrupt: () => {
      for (const ending of inFlight) ending.abort('interrupted');
    },
    problem: async () => {
      const signal = AbortSignal.timeout(HEALTH_TIMEOUT_MS);
      try {
        const { statusCode, body } = await unlessAborted(
          healthPool.request({ path: '/healthz', method: 'GET', signal }),
          signal,
        );
        await unlessAborted(body.dump(), signal);
        return statusCode < 400 ? undefined : `GET /healthz returned ${statusCode}`;
      } catch (error) {
        // A runtime that does not answer while it processes a call is busy, not unreachable.
        if (signal.aborted && inFlight.size > 0) return undefined;
        return signal.aborted
          ? `GET /healthz was not answered within ${HEALTH_TIMEOUT_MS} ms`
          : unreachableDetail(error as Error, options);
      }
    },
    close: async () => {
      await Promise.all([pool.destroy(), healthPool.destroy()]);
    },
  };
}

const HEALTH_TIMEOUT_MS = 2_000;

function requestHeaders({ envelope }: RuntimeRequest): Record<string, string> {
  const { status, headers } = envelope;
  const traceparent = headerText(headers, 'traceparent');
  return {
    'content-type': 'application/json',
    'x-asya-envelope-id': headerSafe(envelope.id),
    ...(status?.attempt !== undefined && { 'x-asya-attempt': String(status.attempt) }),
    ...(status?.deadline_at !== undefined && { 'x-asya-deadline': status.deadline_at }),
    ...(traceparent !== undefined && { traceparent: headerSafe(traceparent) }),
  };
}

/** An envelope id may contain characters that a header must not. */
function headerSafe(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : encodeURIComponent(text.toWellFormed());
}

async function readResponse(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  { envelope }: RuntimeRequest,
  options: HttpRuntimeOptions,
): Promise<CallResult> {
  const bytes = await readAtMost(body, options.maxAnswerBytes);
  const tooLarge = `the runtime's answer has more than ${options.maxAnswerBytes} bytes (ASYA_RUNTIME_MAX_RESPONSE)`;
  if (bytes === undefined && statusCode < 400) return { kind: 'too-large', detail: tooLarge };
  // The status decides whether it is an error, whatever the body contains.
  const text = bytes === undefined ? tooLarge : textFromUtf8(bytes);
  if (text === undefined && statusCode < 400) {
    return { kind: 'unreachable', detail: "the runtime's answer is not UTF-8" };
  }
  const answer = { status: statusCode, text: text ?? '', ...extrasOf(headers) };
  if (options.protocol === 'payload') return answerFromHttp(answer, options.fanOut);
  const isStream = String(headers['content-type'] ?? '').startsWith('text/event-stream');
  return isStream && statusCode < 400
    ? answerFromEventStream(answer.text, envelope.route)
    : answerFromFramesOverHttp(answer, envelope.route);
}

function extrasOf(headers: Dispatcher.ResponseData['headers']): Pick<HttpAnswer, 'next' | 'retryAfter'> {
  const next = headers['x-asya-route-next'];
  const retryAfter = headers['retry-after'];
  return {
    ...(next !== undefined && { next: nextFromHeader(String(next)) }),
    ...(retryAfter !== undefined && { retryAfter: String(retryAfter) }),
  };
}

/** Undefined if the body is longer. */
async function readAtMost(
  body: Dispatcher.ResponseData['body'],
  maxBytes: number,
): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) {
      body.destroy();
      return undefined;
    }
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
}

function isUnconnected(error: unknown): boolean {
  return ['ENOENT', 'ECONNREFUSED'].includes(codeOf(error));
}

/** `UND_ERR_SOCKET`: the other side closed the connection. */
function isLost(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function unreachableDetail(
  error: Error & { readonly code?: unknown },
  { url, socketPath }: HttpRuntimeOptions,
): string {
  const reason = error.message === '' ? String(error.code ?? error.name) : error.message;
  return `${reason} (the runtime's address is ${socketPath ?? url})`;
}
