import { type CallOptions, type ClientConfig, PubSub, v1 } from '@google-cloud/pubsub';
import { errorText } from '../../core/text/error-text.ts';

export interface PubsubAddress {
  readonly projectId: string;
  /** `host:port` of another Pub/Sub than Google's. */
  readonly endpoint?: string;
}

export interface PubsubClient {
  readonly projectId: string;
  /** Topics, and publishing to them in batches. */
  readonly publisher: PubSub;
  /** Subscriptions as the service has them: its answers are passed on, which the client above this one does not do. */
  readonly subscriber: v1.SubscriberClient;
  close(): Promise<void>;
}

/** A connection that is down is tried again so often: whoever waits for it has not more than `CALL` gives. */
const RECONNECT = { 'grpc.initial_reconnect_backoff_ms': 200, 'grpc.max_reconnect_backoff_ms': 1_000 };

/** Its own default would look for credentials over the network, also where none are needed. */
const NO_CREDENTIALS = { clientOptions: { universeDomain: 'googleapis.com' } };

/** Google asks for credentials; whatever else speaks Pub/Sub is an emulator, which takes none and speaks in the clear. */
function isGoogles(endpoint: string): boolean {
  return /\.googleapis\.com(:\d+)?$/.test(endpoint);
}

/** Rejects in words for whoever starts it where there are no credentials to be had. */
export async function pubsubClient({ projectId, endpoint }: PubsubAddress): Promise<PubsubClient> {
  const isEmulator = endpoint !== undefined && !isGoogles(endpoint);
  const publisher = new PubSub({
    projectId,
    // Never by this process's environment: what counts is what the configuration says.
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
    // Where this fails later, the client throws into nowhere, and the process with it.
    await subscriber.initialize();
    return subscriber;
  } catch (error) {
    throw withoutCredentials(error);
  }
}

const HOW_TO_GET_SOME =
  'set GOOGLE_APPLICATION_CREDENTIALS or run where Google gives some, or name an emulator in ASYA_PUBSUB_ENDPOINT';

/** Without a stack: nothing in our code would mend it, and it hides the words. */
function withoutCredentials(error: unknown): Error {
  const why = errorText(error);
  const words = `no credentials for Pub/Sub: ${why.replace(/\.$/, '')}; ${HOW_TO_GET_SOME}`;
  return Object.assign(new Error(words), { stack: undefined });
}

/** By gRPC's numbers. */
const PASSING = { aborted: 10, internal: 13, unavailable: 14 };
const WITHIN_MS = 10_000;

/** Every call: what passes is tried again for a while, and then it is refused. */
export const CALL: CallOptions = {
  timeout: WITHIN_MS,
  retry: {
    retryCodes: Object.values(PASSING),
    backoffSettings: {
      initialRetryDelayMillis: 100,
      retryDelayMultiplier: 1.5,
      maxRetryDelayMillis: 1_000,
      initialRpcTimeoutMillis: WITHIN_MS,
      rpcTimeoutMultiplier: 1,
      maxRpcTimeoutMillis: WITHIN_MS,
      totalTimeoutMillis: WITHIN_MS,
    },
  },
};
