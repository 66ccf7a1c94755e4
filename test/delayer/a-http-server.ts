import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';

export interface HeardRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface GivenAnswer {
  readonly status: number;
  readonly body: string;
}

export interface HttpServer {
  readonly url: string;
  readonly host: string;
  readonly heard: HeardRequest[];
}

const started: Server[] = [];
/** By file, not by test: where tests run at the same time, nobody knows whose a server is. */
afterAll(async () => {
  for (const server of started.splice(0)) {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }
});

/** A real server on loopback that answers as told, until the test file has ended; no answer cuts the connection. */
export async function anHttpServer(
  answer: (request: HeardRequest) => GivenAnswer | undefined | Promise<GivenAnswer | undefined>,
): Promise<HttpServer> {
  const heard: HeardRequest[] = [];
  async function giveAnswer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { method = '', url: path = '', headers } = request;
    const one = { method, path, headers, text: Buffer.concat(chunks).toString() };
    heard.push(one);
    const given = await answer(one);
    if (given === undefined) response.destroy();
    else response.writeHead(given.status, { 'content-type': 'application/json' }).end(given.body);
  }
  // Whoever asks again after a pause is not to find the connection closed.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    // Who asks may be killed in the middle, and so may who is asked for the answer.
    giveAnswer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  started.push(server);
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `http://${host}`, host, heard };
}
