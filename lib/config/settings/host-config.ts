import type { Actor } from '../../core/delivery/actor.ts';
import type { GATEWAY, REPORTING } from './groups/gateway.ts';
import type { LOGGING, PROCESS } from './groups/host.ts';
import type { MESH, QUEUES } from './groups/mesh.ts';
import type { PUSH } from './groups/push.ts';
import type { RUNTIME } from './groups/runtime.ts';
import type { CREW, STORAGE } from './groups/storage.ts';
import type { Values } from './setting.ts';
import type { TransportsConfig } from './transports.ts';

/**
 * The compiled configurations of the hosts: durations in milliseconds, policies resolved, defaults filled in. Each one
 * contains only the groups that its host uses.
 */

export type LogLevel = Values<typeof LOGGING>['logLevel'];

export type Reporting = Values<typeof REPORTING>;

/** The API keys, tokens and flows of the gateway. */
export type GatewaySettings = Values<typeof GATEWAY>;

/** Where the crew stores envelopes and failures. */
export type Storage = Values<typeof STORAGE>;

type RuntimeSettings = Values<typeof RUNTIME>;

/** What every host needs to use its broker. */
export interface BrokerConfig extends TransportsConfig, Values<typeof MESH> {
  readonly actor: Pick<Actor, 'name' | 'timeoutMs'>;
  readonly runtime: Pick<RuntimeSettings, 'concurrency'>;
}

/** What one of the crew needs: x-sink, x-sump or x-dlq. */
export interface CrewConfig
  extends BrokerConfig,
    Values<typeof REPORTING>,
    Values<typeof CREW>,
    Values<typeof LOGGING> {
  readonly actor: Actor;
  readonly storage: Storage;
}

/** The sidecar, as a worker or on Lambda. It serves an actor by its runtime, or is one of the crew. */
export interface SidecarConfig extends CrewConfig, Values<typeof PROCESS> {
  readonly runtime: RuntimeSettings;
  readonly queues: Values<typeof QUEUES>;
}

/** The sidecar on Cloud Run, to which Pub/Sub pushes deliveries. */
export interface PushConfig extends SidecarConfig {
  readonly push: Values<typeof PUSH>;
}

/** The gateway: its server, its functions and its timers. */
export interface GatewayConfig
  extends BrokerConfig,
    Values<typeof LOGGING>,
    Pick<Reporting, 'gatewaySecret'> {
  readonly gateway: GatewaySettings;
  readonly storage: Storage;
}

/** The commands that inspect failures and send envelopes, such as `asya failures` and `asya replay`. */
export interface OperatorConfig extends BrokerConfig {
  readonly storage: Storage;
}

/** Everything that the table describes. Each host takes its part of it. */
export interface FullConfig extends PushConfig {
  readonly gateway: GatewaySettings;
}

/** How long a runtime may take to start on a long-running host. */
export const STARTUP_TIMEOUT_MS = 60_000;

/** The time that a host with a time limit reserves for the last sends of an invocation. */
export const HOST_RESERVE_MS = 2_000;
