import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The part of Lambda's Runtime API that a runtime uses: the next event, its response, its error. */
export interface RuntimeApi {
  /** For AWS_LAMBDA_RUNTIME_API. */
  readonly address: string;
  /** Rejects if the function fails, also in its init phase. */
  invoke(event: unknown, timeLeftMs: number): Promise<Invocation>;
  close(): Promise<void>;
}

export interface Invocation {
  /** What the function returned. */
  readonly response: unknown;
  /** When the function received the event, and when its response arrived: `performance.now()`. */
  readonly deliveredAt: number;
  readonly respondedAt: number;
}

interface PendingEvent {
  readonly id: string;
  readonly body: string;
  readonly endsAt: number;
  deliveredAt: number;
  readonly resolve: (invocation: Invocation) => void;
  readonly reject: (error: Error) => void;
}

export async function startRuntimeApi(): Promise<RuntimeApi> {
  const events: PendingEvent[] = [];
  const inProgress = new Map<string, PendingEvent>();
  const pollers: ServerResponse[] = [];

  function deliverNext(): void {
    const [event, poller] = [events[0], pollers[0]];
    if (event === undefined || poller === undefined) return;
    events.shift();
    pollers.shift();
    inProgress.set(event.id, event);
    event.deliveredAt = performance.now();
    poller.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(event.body),
      'lambda-runtime-aws-request-id': event.id,
      'lambda-runtime-deadline-ms': String(event.endsAt),
      'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:us-east-1:000000000000:function:sidecar',
      'lambda-runtime-trace-id': 'Root=1-5e1b4151-5ac6c58f3b6f7a4a0c6d5c1e;Sampled=0',
    });
    poller.end(event.body);
  }

  const server = createServer(async (request, response) => {
    const respondedAt = performance.now();
    const [, id, kind] = /\/runtime\/(?:invocation\/([^/]+)\/?|init\/)(\w*)$/.exec(request.url ?? '') ?? [];
    if (id === 'next') {
      pollers.push(response);
      return deliverNext();
    }
    const text = await textOf(request);
    const event = id === undefined ? events.shift() : inProgress.get(id);
    if (id !== undefined) inProgress.delete(id);
    response.writeHead(202).end('{"status":"OK"}');
    if (event === undefined) return;
    const { deliveredAt, resolve, reject } = event;
    if (kind === 'response') resolve({ response: JSON.parse(text), deliveredAt, respondedAt });
    else reject(new Error(text));
  });
  // A function that is frozen or slow keeps its connection.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    invoke: (event, timeLeftMs) =>
      new Promise((resolve, reject) => {
        const endsAt = Date.now() + timeLeftMs;
        const body = JSON.stringify(event);
        events.push({ id: randomUUID(), body, endsAt, deliveredAt: 0, resolve, reject });
        deliverNext();
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
