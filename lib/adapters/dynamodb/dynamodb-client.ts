import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { credentialsFor } from '../../config/settings/local-endpoint.ts';
import type { Environment } from '../../config/settings/variables.ts';
import { defined } from '../../core/text/defined.ts';

export interface DynamoDbAddress {
  readonly region: string;
  readonly endpoint?: string;
}

const CONNECT_TIMEOUT_MS = 3_000;
/** `requestTimeout` of the SDK only logs a warning and waits forever. An embedded engine on a busy machine is slow. */
const SOCKET_TIMEOUT_MS = 15_000;

export function dynamoDbClient({ region, endpoint }: DynamoDbAddress, env: Environment): DynamoDBClient {
  return new DynamoDBClient({
    region,
    ...defined({ endpoint }),
    ...credentialsFor(endpoint, env),
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: SOCKET_TIMEOUT_MS },
  });
}
