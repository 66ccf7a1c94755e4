import type { Flow } from '../../core/task/flow.ts';
import type { Manifest } from '../manifest/manifest.ts';
import type { GatewayConfig, GatewaySettings } from '../settings/host-config.ts';
import { queueName } from '../settings/queue-name.ts';
import { readGatewayConfig } from '../settings/read-host-config.ts';
import {
  baseConfig,
  type FunctionPlan,
  MAX_FUNCTION_SECONDS,
  type PlanSettings,
  replicasOf,
} from './function-plan.ts';

/** The gateway's name among the mesh's own actors, and its queue's. */
export const GATEWAY = 'x-gateway';
/** Beside the gateway's code. */
export const GATEWAY_FLOWS_FILE = 'flows.json';
const GATEWAY_REPLICAS = 100;
const GATEWAY_MEMORY_MB = 512;
/** Whoever reports has given up before; what is noted late is noted all the same. */
const REPORTS_SECONDS = 30;

export interface GatewayPlanSettings extends PlanSettings {
  /** Who may call, as `ASYA_GATEWAY_KEYS` takes it. */
  readonly keys: string;
  /** Who else may call. */
  readonly callers?: Partial<Pick<GatewaySettings, 'issuer' | 'audience' | 'jwksUrl' | 'origins'>>;
}

/**
 * The gateway as a function, for callers: it sends to where flows begin and to its own timers, and to nobody else. It
 * does not know what reports are signed with, so it takes none.
 */
export function gatewayPlan({ flows }: Manifest, settings: GatewayPlanSettings): FunctionPlan<GatewayConfig> {
  const base = baseConfig(readGatewayConfig, GATEWAY, settings);
  const { namespace, storage, keys, callers } = settings;
  const entrypoints = new Set(flows.map(({ entrypoint }) => queueName(entrypoint, namespace)));
  return {
    actor: GATEWAY,
    folder: 'gateway',
    sources: [],
    batchSize: 1,
    batchWindowSeconds: 0,
    maxReplicas: replicasOf(GATEWAY_REPLICAS, settings),
    // A stream of events lasts as long as its task, as far as Lambda allows.
    timeoutSeconds: MAX_FUNCTION_SECONDS,
    memoryMb: GATEWAY_MEMORY_MB,
    config: {
      ...base,
      storage,
      gateway: { ...base.gateway, ...callers, keys, flowsFile: GATEWAY_FLOWS_FILE },
    },
    environment: {},
    sendsTo: [...entrypoints, queueName(GATEWAY, namespace)],
  };
}

/** What takes the reports as a function: it sends to nobody. */
export function reportsPlan(settings: PlanSettings, secret: string): FunctionPlan<GatewayConfig> {
  return {
    actor: GATEWAY,
    folder: 'gateway-reports',
    sources: [],
    batchSize: 1,
    batchWindowSeconds: 0,
    maxReplicas: replicasOf(GATEWAY_REPLICAS, settings),
    timeoutSeconds: REPORTS_SECONDS,
    memoryMb: GATEWAY_MEMORY_MB,
    config: {
      ...baseConfig(readGatewayConfig, GATEWAY, settings),
      storage: settings.storage,
      gatewaySecret: secret,
    },
    environment: {},
    sendsTo: [],
  };
}

/** As `flows.yaml` holds them: JSON is YAML too. */
export function flowsFileText(flows: readonly Flow[]): string {
  const entries = flows.map(({ name, entrypoint, routeNext, description, timeoutSeconds, mcp, a2a }) => ({
    name,
    entrypoint,
    route_next: routeNext,
    description,
    timeout: timeoutSeconds,
    mcp,
    a2a,
  }));
  return `${JSON.stringify({ flows: entries }, null, 2)}\n`;
}
