import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inFlight } from '../../async/in-flight.ts';
import { stackText } from '../../core/text/error-text.ts';
import { discardRest, textWithin } from './request-text.ts';

export interface PushServerOptions {
  readonly host?: string;
  readonly port: number;
  /** Called before the server listens, to refuse requests before anything else sees them. Default: none are refused. */
  readonly guard?: (server: Server) => void;
  /** Undefined: it may come in. Asked before the body is read. */
  readonly refuse: (authorization: string | undefined) => Promise<PushAnswer | undefined>;
  /** One push. What it throws is a bug, answered with 500 and told. */
  readonly take: (body: string, arrival: Arrival) => Promise<PushAnswer>;
  /** Undefined: well. Otherwise what is wrong, for `/healthz`. */
  readonly liveness: () => string | undefined;
  readonly onTrouble: (what: string, details: Readonly<Record<string, string | number>>) => void;
}

/** A status from 200 to 299 acks; Pub/Sub delivers again after any other. */
export interface PushAnswer {
  readonly status: number;
  readonly problem?: string;
}

export interface Arrival {
  /** Aborts where the caller has gone: nobody hears the answer any more. */
  readonly gone: AbortSignal;
  /** What it took to come in and be checked: whoever pushes has waited so long already. */
  readonly tookMs: number;
}

export interface PushServer {
  readonly port: number;
  /** Takes no more pushes, and waits for those under way. */
  drain(): Promise<void>;
  /** Cuts off whoever is left. */
  close(): Promise<void>;
}

/** Pub/Sub's largest message in base64, with the attributes around it. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** For a request to come in whole. */
const RECEIVE_WITHIN_MS = 60_000;
/** Longer than the load balancer before it keeps a connection: who closes first must not be the one who is asked. */
const KEEP_ALIVE_MS = 620_000;
const TIMES = { keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: RECEIVE_WITHIN_MS };

/** What a push subscription calls: `POST`, on whatever path it was told; and `/healthz`. */
export async function pushServer(options: PushServerOptions): Promise<PushServer> {
  const requests = inFlight();
  let isDraining = false;
  const server = createServer(TIMES, (request, response) => {
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
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const arrival = () => ({ gone: gone.signal, tookMs: performance.now() - beganAt });
  const { status, problem } = await answerOf(request, options, isDraining, arrival);
  if (problem !== undefined && status !== 200) options.onTrouble('a push was refused', { status, problem });
  await discardRest(request);
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    ...(isDraining ? { connection: 'close' } : {}),
  });
  const isOut = new Promise((resolve) => response.once('close', resolve));
  response.end(status === 204 ? undefined : `${problem ?? 'ok'}\n`);
  // Until it is out: whoever waits for this answer may cut connections next.
  if (!gone.signal.aborted) await isOut;
}

async function answerOf(
  request: IncomingMessage,
  options: PushServerOptions,
  isDraining: boolean,
  arrival: () => Arrival,
): Promise<PushAnswer> {
  if (request.method === 'GET' && request.url?.split('?')[0] === '/healthz')
    return health(options.liveness());
  if (request.method !== 'POST')
    return { status: 405, problem: 'there are GET /healthz, and POST for a push subscription' };
  if (isDraining) return { status: 503, problem: 'this instance is about to end' };
  try {
    const refusal = await options.refuse(request.headers.authorization);
    if (refusal !== undefined) return refusal;
    const body = await textWithin(request, MAX_BODY_BYTES);
    return 'text' in body ? await options.take(body.text, arrival()) : body;
  } catch (error) {
    const problem = stackText(error);
    options.onTrouble('a bug in the host', { problem });
    return { status: 500, problem: 'a bug in the host; its log says more' };
  }
}

function health(liveness: string | undefined): PushAnswer {
  return liveness === undefined ? { status: 200 } : { status: 503, problem: liveness };
}
