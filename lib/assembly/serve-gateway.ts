import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import type { HttpFace } from '../adapters/http/http-face.ts';

export interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

/** The gateway as a server of its own. Rejects where the port cannot be had. */
export async function serveGateway({ app }: HttpFace, port: number, hostname: string): Promise<Listening> {
  const server = serve({ fetch: app.fetch, port, hostname }) as Server;
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
