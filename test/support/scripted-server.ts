import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

/** An HTTP server that answers as a test says. */
export interface ScriptedServer {
  readonly url: URL;
  /** In order of arrival. */
  readonly requests: readonly ReceivedRequest[];
  /** How many connections were opened so far. */
  readonly connections: number;
  readonly openConnections: number;
  close(): Promise<void>;
}

export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The number of its connection, from 1. */
  readonly connection: number;
}

export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Decides the answer to a request: an answer, `drop` (closes the connection), `hang` (never answers), or what it does itself. */
export type Script = (
  request: ReceivedRequest,
  response: ServerResponse,
) => ScriptedAnswer | 'drop' | 'hang' | 'done';

export async function startScriptedServer(script: Script, tls?: ServerOptions): Promise<ScriptedServer> {
  const requests: ReceivedRequest[] = [];
  const connections = new Map<Duplex, number>();
  let opened = 0;
  const server = tls === undefined ? createServer() : createTlsServer(tls);
  server.keepAliveTimeout = 60_000;
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Duplex) => {
    connections.set(socket, ++opened);
    socket.on('close', () => connections.delete(socket));
  });
  server.on('request', async (incoming, response) => {
    let body = '';
    for await (const chunk of incoming.setEncoding('utf8')) body += chunk;
    const { method = '', url: path = '', headers, socket } = incoming;
    const request = { method, path, headers, body, connection: connections.get(socket) ?? 0 };
    requests.push(request);
    const answer = script(request, response);
    if (answer === 'drop') socket.destroy();
    else if (typeof answer === 'object')
      response.writeHead(answer.status ?? 200, answer.headers).end(answer.body ?? '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/`),
    requests,
    get connections() {
      return opened;
    },
    get openConnections() {
      return connections.size;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
