import type { Actor } from '../../core/delivery/actor.ts';
import type { ListenAddress, RuntimeAddress } from './addresses.ts';

export type TransportName = 'sqs' | 'pubsub' | 'rabbitmq';

/** What a sidecar is told, compiled: milliseconds and policies, nothing left to look up or fall back on. */
export interface SidecarConfig {
  readonly actor: Actor;
  readonly namespace?: string;
  readonly sump: string;
  readonly transport: TransportName;
  readonly runtime: {
    readonly address: RuntimeAddress;
    readonly protocol: 'payload' | 'envelope';
    readonly command?: string;
    /** Undefined: the host's default. */
    readonly startupTimeoutMs?: number;
    readonly passEnv: readonly string[];
    readonly maxResponseBytes: number;
    readonly concurrency: number;
  };
  readonly gatewayUrl?: string;
  /** What reports are signed with. */
  readonly gatewaySecret?: string;
  /** Read by the gateway alone. */
  readonly gateway: GatewaySettings;
  /** Read by the host that is pushed to, alone. */
  readonly push: PushSettings;
  readonly storage: Storage;
  /** Whose dead-letter queues x-dlq drains. */
  readonly deadLettersOf: readonly string[];
  readonly sqs: {
    readonly endpoint?: string;
    readonly region: string;
    readonly visibilitySeconds: number;
    readonly waitSeconds: number;
  };
  readonly pubsub: {
    readonly projectId?: string;
    readonly endpoint?: string;
    readonly delayerTopic: string;
  };
  readonly rabbitmq: {
    readonly url: string;
    readonly exchange: string;
    readonly prefetch: number;
    readonly delay: 'none' | 'ttl';
  };
  readonly queues: {
    readonly retryMaxAttempts: number;
    readonly retryBackoffMs: number;
    readonly autoCreate: boolean;
  };
  readonly metrics?: ListenAddress;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly gracePeriodMs: number;
}

/** Who may call the gateway and what it offers. Undefined is refused where it is needed. */
export interface GatewaySettings {
  readonly keys?: string;
  readonly keysFile?: string;
  readonly issuer?: string;
  readonly audience?: string;
  readonly jwksUrl?: string;
  readonly flowsFile?: string;
  readonly publicUrl?: string;
  readonly origins: readonly string[];
  readonly port: number;
  readonly ratePerSecond: number;
}

/** Whose pushes are taken, where, and how long they wait. Undefined is refused where it is needed. */
interface PushSettings {
  readonly auth: 'oidc' | 'iam' | 'none';
  readonly audience?: string;
  readonly serviceAccount?: string;
  readonly jwksUrl?: string;
  readonly ackDeadlineSeconds: number;
  readonly port?: number;
}

/** Where the crew keeps things. Undefined is refused where it is needed. */
export interface Storage {
  readonly bucket?: string;
  readonly kmsKey?: string;
  readonly table?: string;
  readonly s3Endpoint?: string;
  readonly dynamoDbEndpoint?: string;
}

/** What Pub/Sub allows for the ack deadline of a subscription. */
export const MIN_ACK_DEADLINE_SECONDS = 10;
export const MAX_ACK_DEADLINE_SECONDS = 600;

/** The longest that SQS hides a delivery: twelve hours. */
export const MAX_VISIBILITY_SECONDS = 43_200;

/** Twice the actor's timeout, so that nothing is delivered again while it is still worked on. */
export function defaultVisibilitySeconds(actorTimeoutMs: number): number {
  return Math.min(Math.ceil((actorTimeoutMs * 2) / 1000), MAX_VISIBILITY_SECONDS);
}

/** How long a runtime may take to start on a host that lives long. */
export const STARTUP_TIMEOUT_MS = 60_000;

/** What a host with an end keeps for the last sends of an invocation. */
export const HOST_RESERVE_MS = 2_000;
