import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

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

/** A real server on loopback that answers as told, until the test has ended; no answer cuts the connection. */
export async function anHttpServer(
  answer: (request: HeardRequest) => GivenAnswer | undefined | Promise<GivenAnswer | undefined>,
): Promise<HttpServer> {
  const heard: HeardRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { method = '', url: path = '', headers } = request;
    const one = { method, path, headers, text: Buffer.concat(chunks).toString() };
    heard.push(one);
    const given = await answer(one);
    if (given === undefined) response.destroy();
    else response.writeHead(given.status, { 'content-type': 'application/json' }).end(given.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `http://${host}`, host, heard };
}
