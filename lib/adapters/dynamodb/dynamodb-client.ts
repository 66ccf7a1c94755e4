import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Environment } from '../../config/environment.ts';
import { credentialsFor } from '../../config/local-endpoint.ts';

export interface DynamoDbAddress {
  readonly region: string;
  readonly endpoint?: string;
}

const CONNECT_WITHIN_MS = 3_000;
/** Each of three tries. Whoever is many at once waits for a connection too. */
const ANSWER_WITHIN_MS = 10_000;

export function dynamoDbClient({ region, endpoint }: DynamoDbAddress, env: Environment): DynamoDBClient {
  return new DynamoDBClient({
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...credentialsFor(endpoint, env),
    requestHandler: {
      connectionTimeout: CONNECT_WITHIN_MS,
      requestTimeout: ANSWER_WITHIN_MS,
      // Without it the SDK writes a warning and waits on, for ever.
      throwOnRequestTimeout: true,
    },
  });
}
