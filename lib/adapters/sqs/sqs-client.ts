import { SQSClient } from '@aws-sdk/client-sqs';

export interface SqsAddress {
  readonly endpoint?: string;
  readonly region: string;
}

/**
 * An engine on this machine checks no credentials, but the SDK wants some: without any it would look for them over
 * the network for seconds.
 */
const LOCAL_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

const CONNECT_WITHIN_MS = 5_000;
/** Longer than the longest poll, which is silent for 20 s. */
const SILENT_AT_MOST_MS = 35_000;

type Environment = Readonly<Record<string, string | undefined>>;

/** Connections are kept alive by the SDK itself. */
export function sqsClient({ endpoint, region }: SqsAddress, env: Environment): SQSClient {
  return new SQSClient({
    region,
    // Without these a connection that is only half open would be waited for until the operating system gives up.
    requestHandler: { connectionTimeout: CONNECT_WITHIN_MS, socketTimeout: SILENT_AT_MOST_MS },
    // An engine elsewhere gives queue URLs that need not resolve from here.
    ...(endpoint === undefined ? {} : { endpoint, useQueueUrlAsEndpoint: false }),
    ...(isOnThisMachine(endpoint) && !hasCredentials(env) ? { credentials: LOCAL_CREDENTIALS } : {}),
  });
}

export function isOnThisMachine(endpoint: string | undefined): boolean {
  const host = endpoint === undefined ? '' : new URL(endpoint).hostname;
  return host === 'localhost' || host === '[::1]' || /^127\./.test(host);
}

function hasCredentials(env: Environment): boolean {
  return Boolean(env['AWS_ACCESS_KEY_ID'] || env['AWS_PROFILE']);
}
