import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import dynalite from 'dynalite';

/** A DynamoDB in this process, on a free port of 127.0.0.1. */
export interface EmbeddedDynamoDb {
  readonly endpoint: string;
  close(): Promise<void>;
}

export async function startEmbeddedDynamoDb(createTableMs = 0): Promise<EmbeddedDynamoDb> {
  const server = dynalite({ createTableMs });
  // dynalite throws when a client disconnects during a request, which would end the test run.
  server.on('request', (request) => {
    request.removeAllListeners('error');
    request.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
