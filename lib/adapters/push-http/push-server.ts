import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inFlight } from '../../async/in-flight.ts';
import { stackText } from '../../core/text/error-text.ts';
import { discardRest, textWithin } from './request-text.ts';

export interface PushServerOptions {
  readonly host?: string;
  readonly port: number;
  /** Called before the server listens, to refuse requests before any other handler. @default no requests are refused */
  readonly guard?: (server: Server) => void;
  /** Undefined if the request is authorized, otherwise the response. Called before the body is read. */
  readonly refuse: (authorization: string | undefined) => Promise<PushResponse | undefined>;
  /** Processes one push. An exception is a bug: the response is 500, and it is logged. */
  readonly onPush: (body: string, arrival: PushRequest) => Promise<PushResponse>;
  /** Undefined if the instance is healthy, otherwise the reason, for `/healthz`. */
  readonly liveness: () => string | undefined;
  readonly onWarning: (what: string, details: Readonly<Record<string, string | number>>) => void;
}

/** The HTTP response. A status from 200 to 299 acknowledges the push; Pub/Sub redelivers after any other. */
export interface PushResponse {
  readonly status: number;
  readonly problem?: string;
}

export interface PushRequest {
  /** Aborts when the caller has closed the connection. */
  readonly disconnected: AbortSignal;
  /** How long the request took to arrive and to be authorized. The caller's timeout includes this time. */
  readonly tookMs: number;
}

export interface PushServer {
  readonly port: number;
  /** Refuses new pushes, and waits for those in flight. */
  drain(): Promise<void>;
  /** Closes the server and all connections. */
  close(): Promise<void>;
}

/** Pub/Sub's largest message in base64, with its attributes. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** Time limit for a whole request to arrive. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Longer than the load balancer keeps an idle connection, so that the server never closes one that is about to be used. */
const KEEP_ALIVE_MS = 620_000;
const TIMEOUTS = { keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: REQUEST_TIMEOUT_MS };

/** The endpoint of a push subscription: `POST` on any path, and `GET /healthz`. */
export async function pushServer(options: PushServerOptions): Promise<PushServer> {
  const requests = inFlight();
  let isDraining = false;
  const server = createServer(TIMEOUTS, (request, response) => {
    void requests.track(answer(request, response, options, isDraining));
  });
  options.guard?.(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    drain: async () => {
      isDraining = true;
      while (requests.size > 0) await requests.settled();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: PushServerOptions,
  isDraining: boolean,
): Promise<void> {
  const beganAt = performance.now();
  const disconnected = new AbortController();
  response.once('close', () => disconnected.abort());
  const arrival = () => ({ disconnected: disconnected.signal, tookMs: performance.now() - beganAt });
  const { status, problem } = await responseTo(request, options, isDraining, arrival);
  if (problem !== undefined && status !== 200) options.onWarning('a push was refused', { status, problem });
  await discardRest(request);
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    ...(isDraining ? { connection: 'close' } : {}),
  });
  const sent = new Promise((resolve) => response.once('close', resolve));
  response.end(status === 204 ? undefined : `${problem ?? 'ok'}\n`);
  // Wait until the response is sent: `close` may end the connection next.
  if (!disconnected.signal.aborted) await sent;
}

async function responseTo(
  request: IncomingMessage,
  options: PushServerOptions,
  isDraining: boolean,
  arrival: () => PushRequest,
): Promise<PushResponse> {
  if (request.method === 'GET' && request.url?.split('?')[0] === '/healthz')
    return health(options.liveness());
  if (request.method !== 'POST')
    return { status: 405, problem: 'method not allowed; use POST for pushes, or GET /healthz' };
  if (isDraining) return { status: 503, problem: 'this instance is shutting down' };
  try {
    const refusal = await options.refuse(request.headers.authorization);
    if (refusal !== undefined) return refusal;
    const body = await textWithin(request, MAX_BODY_BYTES);
    return 'text' in body ? await options.onPush(body.text, arrival()) : body;
  } catch (error) {
    const problem = stackText(error);
    options.onWarning('internal error', { problem });
    return { status: 500, problem: 'internal error (logged)' };
  }
}

function health(problem: string | undefined): PushResponse {
  return problem === undefined ? { status: 200 } : { status: 503, problem };
}
