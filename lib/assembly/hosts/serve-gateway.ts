import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { answerClientError, invalidRequestResponse } from '../../adapters/http/client-error.ts';
import type { HttpFace } from '../../adapters/http/http-face.ts';

export interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

/** All of a request, which has 1 MiB at the most: whoever sends it drop by drop holds a connection no longer. */
const REQUEST_WITHIN_MS = 60_000;

/** The gateway as a server of its own. Rejects if it cannot listen on the port. */
export async function serveGateway(
  { app }: HttpFace,
  port: number,
  hostname: string,
  /** Called before the server listens, to refuse requests before the gateway sees them. Default: none are refused. */
  guard: (server: Server) => void = () => {},
): Promise<Listening> {
  const listener = getRequestListener(app.fetch, { hostname, errorHandler: invalidRequestResponse });
  const server = createServer({ requestTimeout: REQUEST_WITHIN_MS }, listener);
  server.on('clientError', answerClientError);
  guard(server);
  server.listen(port, hostname);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        // Streams of events would go on for as long as anybody reads.
        server.closeAllConnections();
      }),
  };
}
