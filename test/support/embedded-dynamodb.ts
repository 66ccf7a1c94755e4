import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { dynamoDbClient } from '../../lib/adapters/dynamodb/dynamodb-client.ts';

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

/** A DynamoDB with a client. For `beforeAll`, which calls what it returns after all tests: `return dynamoDb.close`. */
export async function startClientOfDynamoDb(): Promise<{
  readonly client: DynamoDBClient;
  readonly endpoint: string;
  readonly close: () => Promise<void>;
}> {
  const engine = await startEmbeddedDynamoDb();
  const client = dynamoDbClient({ region: 'us-east-1', endpoint: engine.endpoint }, {});
  return {
    client,
    endpoint: engine.endpoint,
    close: () => {
      client.destroy();
      return engine.close();
    },
  };
}
