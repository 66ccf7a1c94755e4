import { SQSClient } from '@aws-sdk/client-sqs';
import { credentialsFor } from '../../config/settings/local-endpoint.ts';
import type { Environment } from '../../config/settings/variables.ts';

export interface SqsAddress {
  readonly endpoint?: string;
  readonly region: string;
}

const CONNECT_TIMEOUT_MS = 5_000;
/**
 * More connections than are ever in use. With the SDK's default of 50, a request that waits for a connection fails with a
 * connection timeout: on a slow network the last sends of a large fan-out would be refused on every attempt.
 */
const CONNECTIONS = { maxSockets: 500 };
/** Longer than the longest poll, which receives nothing for 20 s. */
const SOCKET_TIMEOUT_MS = 35_000;

export function sqsClient({ endpoint, region }: SqsAddress, env: Environment): SQSClient {
  return new SQSClient({
    region,
    // Without these limits, a half-open connection blocks a request until the operating system gives up.
    requestHandler: {
      httpAgent: CONNECTIONS,
      httpsAgent: CONNECTIONS,
      connectionTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SOCKET_TIMEOUT_MS,
      // A request with its own timeout fails when the timeout is over, and the SDK retries it on another connection.
      throwOnRequestTimeout: true,
    },
    // Another engine may return queue URLs whose host name does not resolve here.
    ...(endpoint !== undefined && { endpoint, useQueueUrlAsEndpoint: false }),
    ...credentialsFor(endpoint, env),
  });
}
