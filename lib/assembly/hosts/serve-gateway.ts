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

/** How long a client may take to send a request, which has 1 MiB at most. Limits slow clients. */
const REQUEST_WITHIN_MS = 60_000;

/** Serves the gateway over HTTP. Rejects if it cannot listen on the port. */
export async function serveGateway(
  { app }: HttpFace,
  port: number,
  hostname: string,
  /** Called before the server listens, to refuse requests before the gateway sees them. Default: it refuses none. */
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
        // Event streams would stay open as long as their clients do.
        server.closeAllConnections();
      }),
  };
}
