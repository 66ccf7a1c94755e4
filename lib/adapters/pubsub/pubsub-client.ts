import { type CallOptions, type ClientConfig, PubSub, v1 } from '@google-cloud/pubsub';
import { errorText } from '../../core/text/error-text.ts';

export interface PubsubAddress {
  readonly projectId: string;
  /** `host:port` of an emulator or a regional endpoint. @default Google's global endpoint */
  readonly endpoint?: string;
}

export interface PubsubClient {
  readonly projectId: string;
  /** Creates topics, and publishes to them in batches. */
  readonly publisher: PubSub;
  /** The low-level client, which returns the service's responses to acks. The high-level client does not. */
  readonly subscriber: v1.SubscriberClient;
  close(): Promise<void>;
}

/** Reconnect often enough that a call succeeds within the timeout of `CALL`. */
const RECONNECT = { 'grpc.initial_reconnect_backoff_ms': 200, 'grpc.max_reconnect_backoff_ms': 1_000 };

/** The default would look for credentials over the network, even if none are needed. */
const NO_CREDENTIALS = { clientOptions: { universeDomain: 'googleapis.com' } };

/** Google's endpoints need credentials. Every other endpoint is an emulator, without credentials and without TLS. */
function isGoogleEndpoint(endpoint: string): boolean {
  return /\.googleapis\.com(:\d+)?$/.test(endpoint);
}

/** Rejects with a message for the operator if no credentials are found. */
export async function pubsubClient({ projectId, endpoint }: PubsubAddress): Promise<PubsubClient> {
  const isEmulator = endpoint !== undefined && !isGoogleEndpoint(endpoint);
  const publisher = new PubSub({
    projectId,
    // Explicit, because the client would otherwise read this process's environment instead of the configuration.
    apiEndpoint: endpoint ?? 'pubsub.googleapis.com:443',
    emulatorMode: isEmulator,
    ...(isEmulator ? NO_CREDENTIALS : {}),
    ...RECONNECT,
  } as ClientConfig);
  const subscriber = await subscriberOf(publisher);
  return {
    projectId,
    publisher,
    subscriber,
    close: async () => {
      await Promise.all([publisher.close(), subscriber.close()]);
    },
  };
}

async function subscriberOf(publisher: PubSub): Promise<v1.SubscriberClient> {
  try {
    const config = await publisher.getClientConfig();
    const subscriber = new v1.SubscriberClient(
      config as ConstructorParameters<typeof v1.SubscriberClient>[0],
    );
    // Without this, a later failure is an unhandled rejection, which ends the process.
    await subscriber.initialize();
    return subscriber;
  } catch (error) {
    throw withoutCredentials(error);
  }
}

const CREDENTIALS_HELP =
  'set GOOGLE_APPLICATION_CREDENTIALS, run on Google Cloud, or set ASYA_PUBSUB_ENDPOINT to an emulator';

/** Without a stack trace: the cause is the configuration, and a stack trace would hide the message. */
function withoutCredentials(error: unknown): Error {
  const cause = errorText(error).replace(/\.$/, '');
  const message = `no credentials for Pub/Sub: ${cause}; ${CREDENTIALS_HELP}`;
  return Object.assign(new Error(message), { stack: undefined });
}

/** gRPC status codes. */
const TRANSIENT = { aborted: 10, internal: 13, unavailable: 14 };
const TIMEOUT_MS = 10_000;

/** Options of every call: transient errors are retried until the timeout. */
export const CALL: CallOptions = {
  timeout: TIMEOUT_MS,
  retry: {
    retryCodes: Object.values(TRANSIENT),
    backoffSettings: {
      initialRetryDelayMillis: 100,
      retryDelayMultiplier: 1.5,
      maxRetryDelayMillis: 1_000,
      initialRpcTimeoutMillis: TIMEOUT_MS,
      rpcTimeoutMultiplier: 1,
      maxRpcTimeoutMillis: TIMEOUT_MS,
      totalTimeoutMillis: TIMEOUT_MS,
    },
  },
};
