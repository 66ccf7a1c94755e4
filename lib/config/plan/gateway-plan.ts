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

/** The name of the gateway as an actor, and of its queue. */
export const GATEWAY = 'x-gateway';
/** File with the flows, next to the gateway's code. */
export const GATEWAY_FLOWS_FILE = 'flows.json';
const GATEWAY_REPLICAS = 100;
const GATEWAY_MEMORY_MB = 512;
/** Longer than a sidecar waits for an answer: a report that is stored late is still useful. */
const REPORTS_SECONDS = 30;

export interface GatewayPlanSettings extends PlanSettings {
  /** API keys, in the format of `ASYA_GATEWAY_KEYS`. */
  readonly keys: string;
  /** Settings for callers with tokens and for web pages. */
  readonly callers?: Partial<Pick<GatewaySettings, 'issuer' | 'audience' | 'jwksUrl' | 'origins'>>;
}

/**
 * The gateway as a function for callers. It sends only to the entrypoints of flows and to its own timers. It does not
 * have the secret that signs reports, so it accepts none.
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
    // An event stream lasts as long as its task, up to Lambda's maximum.
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

/** The function that receives reports. It sends no messages. */
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

/** The flows in the format of `flows.yaml`: JSON is also YAML. */
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
