import { SQSClient } from '@aws-sdk/client-sqs';
import { credentialsFor } from '../../config/settings/local-endpoint.ts';
import type { Environment } from '../../config/settings/variables.ts';

export interface SqsAddress {
  readonly endpoint?: string;
  readonly region: string;
}

const CONNECT_WITHIN_MS = 5_000;
/**
 * More than are ever in use. The SDK has a request that waits for one of its usual 50 give up as if it could not connect:
 * of a large fan-out on a slow line the last ones would be refused, each time anew.
 */
const CONNECTIONS = { maxSockets: 500 };
/** Longer than the longest poll, which is silent for 20 s. */
const SILENT_AT_MOST_MS = 35_000;

/** Connections are kept alive by the SDK itself. */
export function sqsClient({ endpoint, region }: SqsAddress, env: Environment): SQSClient {
  return new SQSClient({
    region,
    // Without these a connection that is only half open would be waited for until the operating system gives up.
    requestHandler: {
      httpAgent: CONNECTIONS,
      httpsAgent: CONNECTIONS,
      connectionTimeout: CONNECT_WITHIN_MS,
      socketTimeout: SILENT_AT_MOST_MS,
      // Requests that have a limit of their own end with it, and are made again on another connection.
      throwOnRequestTimeout: true,
    },
    // An engine elsewhere gives queue URLs that need not resolve from here.
    ...(endpoint !== undefined && { endpoint, useQueueUrlAsEndpoint: false }),
    ...credentialsFor(endpoint, env),
  });
}
