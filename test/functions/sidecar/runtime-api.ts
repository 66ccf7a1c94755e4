import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Lambda's Runtime API, as much of it as a runtime needs: the next event, its response, its error. */
export interface RuntimeApi {
  /** For AWS_LAMBDA_RUNTIME_API. */
  readonly address: string;
  /** Resolves with what the function answered; rejects where it failed, also in its init phase. */
  invoke(event: unknown, timeLeftMs: number): Promise<unknown>;
  close(): Promise<void>;
}

interface Waiting {
  readonly id: string;
  readonly body: string;
  readonly endsAt: number;
  readonly resolve: (response: unknown) => void;
  readonly reject: (error: Error) => void;
}

export async function startRuntimeApi(): Promise<RuntimeApi> {
  const events: Waiting[] = [];
  const underWay = new Map<string, Waiting>();
  const askers: ServerResponse[] = [];

  function handOut(): void {
    const [event, asker] = [events[0], askers[0]];
    if (event === undefined || asker === undefined) return;
    events.shift();
    askers.shift();
    underWay.set(event.id, event);
    asker.writeHead(200, {
      'content-type': 'application/json',
      'lambda-runtime-aws-request-id': event.id,
      'lambda-runtime-deadline-ms': String(event.endsAt),
      'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:us-east-1:000000000000:function:sidecar',
      'lambda-runtime-trace-id': 'Root=1-5e1b4151-5ac6c58f3b6f7a4a0c6d5c1e;Sampled=0',
    });
    asker.end(event.body);
  }

  const server = createServer(async (request, response) => {
    const [, id, what] = /\/runtime\/(?:invocation\/([^/]+)\/?|init\/)(\w*)$/.exec(request.url ?? '') ?? [];
    if (id === 'next') {
      askers.push(response);
      return handOut();
    }
    const text = await textOf(request);
    const event = id === undefined ? events.shift() : underWay.get(id);
    if (what === 'response') event?.resolve(JSON.parse(text));
    else event?.reject(new Error(text));
    response.writeHead(202).end('{"status":"OK"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    invoke: (event, timeLeftMs) =>
      new Promise((resolve, reject) => {
        const endsAt = Date.now() + timeLeftMs;
        events.push({ id: randomUUID(), body: JSON.stringify(event), endsAt, resolve, reject });
        handOut();
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
