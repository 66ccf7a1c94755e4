import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface HttpServer {
  readonly url: string;
  readonly host: string;
  readonly requests: ReceivedRequest[];
}

const started: Server[] = [];
/** Once per file, not after each test: tests of a file may run concurrently and share servers. */
afterAll(async () => {
  for (const server of started.splice(0)) {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }
});

/** A real server on 127.0.0.1 until the end of the test file. If `answer` returns undefined, it closes the connection. */
export async function anHttpServer(
  answer: (request: ReceivedRequest) => Answer | undefined | Promise<Answer | undefined>,
): Promise<HttpServer> {
  const requests: ReceivedRequest[] = [];
  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { method = '', url: path = '', headers } = request;
    const received = { method, path, headers, text: Buffer.concat(chunks).toString() };
    requests.push(received);
    const answered = await answer(received);
    if (answered === undefined) response.destroy();
    else response.writeHead(answered.status, { 'content-type': 'application/json' }).end(answered.body);
  }
  // No keep-alive timeout: a client that reuses the connection after a pause must not find it closed.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    // The client may be killed during the request, and `answer` may fail.
    respond(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  started.push(server);
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `http://${host}`, host, requests };
}
