import type { Actor } from '../../core/delivery/actor.ts';
import type { GATEWAY, REPORTING } from './groups/gateway.ts';
import type { LOGGING, PROCESS } from './groups/host.ts';
import type { MESH, QUEUES } from './groups/mesh.ts';
import type { PUSH } from './groups/push.ts';
import type { RUNTIME } from './groups/runtime.ts';
import type { CREW, STORAGE } from './groups/storage.ts';
import type { Values } from './setting.ts';
import type { TransportsConfig } from './transports.ts';

/** The API keys, tokens and flows of the gateway. */
export type GatewaySettings = Values<typeof GATEWAY>;

/** Where the crew stores envelopes and failures. */
export type Storage = Values<typeof STORAGE>;

/** A compiled configuration: durations in milliseconds, policies resolved, defaults filled in. */
export interface SidecarConfig
  extends TransportsConfig,
    Values<typeof MESH>,
    Values<typeof REPORTING>,
    Values<typeof CREW>,
    Values<typeof LOGGING>,
    Values<typeof PROCESS> {
  readonly actor: Actor;
  readonly runtime: Values<typeof RUNTIME>;
  readonly gateway: GatewaySettings;
  readonly push: Values<typeof PUSH>;
  readonly storage: Storage;
  readonly queues: Values<typeof QUEUES>;
}

/** How long a runtime may take to start on a long-running host. */
export const STARTUP_TIMEOUT_MS = 60_000;

/** The time that a host with a time limit reserves for the last sends of an invocation. */
export const HOST_RESERVE_MS = 2_000;
