import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { startTimer } from '../../async/timer.ts';
import type { HttpAnswer, HttpPost } from '../../ports/http-client.ts';
import { type KeptConnections, placeOf } from './kept-connections.ts';

export interface Timeouts {
  /** How long a new connection may take, with its TLS handshake. */
  readonly connectTimeoutMs: number;
  /** How long the answer may take to begin, and then to continue. */
  readonly timeoutMs: number;
}

/** The reason why a request has no answer. */
export interface NoAnswer {
  readonly error: Error;
  /**
   * What became of a kept connection before an answer began. Lost: the other side had probably closed it before the request.
   * Silent: something in between may have dropped it without a word.
   */
  readonly kept?: 'lost' | 'silent';
}

/** Sends a request once. Never rejects. */
export function sendOnce(
  connections: KeptConnections,
  { url, headers, body, signal }: HttpPost,
  { connectTimeoutMs, timeoutMs }: Timeouts,
): Promise<HttpAnswer | NoAnswer> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve({ error: abortError(signal) });
    let isAnswering = false;
    const request = connections.request(
      {
        ...placeOf(url),
        method: 'POST',
        path: `${url.pathname}${url.search}`,
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      },
      (answer) => {
        isAnswering = true;
        collect(answer);
      },
    );
    const silence = setTimeout(() => {
      const error = timeoutError(`no answer from ${url.host} within ${timeoutMs} ms`);
      abort(!isAnswering && connections.isKept(request) ? { error, kept: 'silent' } : { error });
    }, timeoutMs);
    const onAbort = () => abort({ error: abortError(signal as AbortSignal) });
    signal?.addEventListener('abort', onAbort);
    const stopConnecting = limitConnecting(request, connectTimeoutMs, () =>
      abort({ error: timeoutError(`no connection to ${url.host} within ${connectTimeoutMs} ms`) }),
    );

    function end(outcome: HttpAnswer | NoAnswer): void {
      clearTimeout(silence);
      stopConnecting();
      signal?.removeEventListener('abort', onAbort);
      resolve(outcome);
    }

    function abort(noAnswer: NoAnswer): void {
      end(noAnswer);
      request.destroy();
    }

    function collect(answer: IncomingMessage): void {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => {
        silence.refresh();
        chunks.push(chunk);
      });
      answer.on('error', (error) => end({ error }));
      answer.on('end', () =>
        end({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      );
    }

    request.on('error', (error) => {
      const isStale = !isAnswering && isLost(error) && connections.isKept(request);
      end(isStale ? { error, kept: 'lost' } : { error });
    });
    request.end(body);
  });
}

/** Calls back if the request's connection does not open in time. Returns a function that ends the limit. */
function limitConnecting(request: ClientRequest, timeoutMs: number, onDue: () => void): () => void {
  let cancel = () => {};
  request.once('socket', (socket: Socket & Partial<TLSSocket> & { readonly secureConnecting?: boolean }) => {
    if (!socket.connecting && !socket.secureConnecting) return;
    cancel = startTimer(timeoutMs, onDue);
    socket.once(socket.encrypted ? 'secureConnect' : 'connect', () => cancel());
  });
  return () => cancel();
}

/** "socket hang up" has the code ECONNRESET. */
function isLost({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ECONNRESET' || code === 'EPIPE';
}

function timeoutError(message: string): Error {
  return Object.assign(new Error(message), { name: 'TimeoutError', code: 'ETIMEDOUT' });
}

function abortError({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : Object.assign(new Error(String(reason)), { name: 'AbortError' });
}
