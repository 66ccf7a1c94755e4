import { randomUUID } from 'node:crypto';
import { type HttpFace, httpFace } from '../../adapters/http/http-face.ts';
import { reportVerification } from '../../adapters/http/verify-reports.ts';
import { checkInput } from '../../adapters/json-schema/check-input.ts';
import { type JsonLog, jsonLog } from '../../adapters/log/json-log.ts';
import { deriveId, systemClock } from '../../adapters/system/system.ts';
import { consumeTimers } from '../../app/gateway/consume-timers.ts';
import type { Gateway } from '../../app/gateway/gateway.ts';
import type { Timer } from '../../app/gateway/gateway-deps.ts';
import { makeGateway } from '../../app/gateway/make-gateway.ts';
import { armTimerOn } from '../../app/gateway/timer.ts';
import { GATEWAY } from '../../config/plan/gateway-plan.ts';
import type { GatewayConfig } from '../../config/settings/host-config.ts';
import { queueName } from '../../config/settings/queue-name.ts';
import { readGatewayConfig } from '../../config/settings/read-host-config.ts';
import type { Environment } from '../../config/settings/variables.ts';
import type { Flow } from '../../core/task/flow.ts';
import { defined } from '../../core/text/defined.ts';
import type { Reply } from '../../ports/reply.ts';
import { authenticationFromConfig } from './authentication-from-config.ts';
import { storesFromConfig } from './crew-from-config.ts';
import { mountFaces } from './mount-faces.ts';
import { configFromEnvironment } from './read-config.ts';
import { flowsFromFile } from './read-flows.ts';
import type { MakeTransport } from './transport-from-config.ts';

/** The gateway without a face, as the timer function and the reports function use it. */
export interface GatewayBackend {
  readonly gateway: Gateway;
  readonly arm: (timer: Timer) => Promise<Reply>;
  /** Consumes the timer queue until `stop` is aborted, in a long-running gateway. */
  consumeTimers(stop: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

const POLL_MS = 250;
/** Reports are rarely lost, and each check of the archive costs a query. */
const SILENT_MS = 5_000;

export async function backendFromConfig(
  config: GatewayConfig,
  env: Environment,
  log: JsonLog,
  makeTransport: MakeTransport,
  flows: () => readonly Flow[],
): Promise<GatewayBackend> {
  const stores = storesFromConfig(config.storage, config.sqs.region, env);
  const transport = await makeTransport(config, env);
  const queueOf = (actor: string) => queueName(actor, config.namespace);
  const clock = systemClock;
  const arm = armTimerOn(transport, queueOf(GATEWAY), clock);
  const gateway = makeGateway({
    ...stores,
    flows,
    send: (actor, body) => transport.send(queueOf(actor), body),
    arm,
    checkInput,
    maxBodyBytes: transport.traits.maxBodyBytes,
    countBytes: Buffer.byteLength,
    clock,
    newId: randomUUID,
    deriveId,
    telemetry: log,
    pollMs: POLL_MS,
    silentMs: SILENT_MS,
  });
  return {
    gateway,
    arm,
    consumeTimers: (stop) =>
      consumeTimers(queueOf(GATEWAY), transport, { gateway, arm, clock, telemetry: log }, stop),
    close: async () => {
      await transport.close();
      stores.close();
    },
  };
}

export interface ServedGateway {
  readonly face: HttpFace;
  readonly gateway: Gateway;
  consumeTimers(stop: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** For the streams of all faces. */
const KEEP_ALIVE_MS = 15_000;
const MAX_WAIT_MS = 60_000;
/** The burst is this many seconds of the rate. */
const BURST_SECONDS = 4;

/** The complete gateway. The flows are read from the configured file, unless they are passed in. */
export async function gatewayFromConfig(
  config: GatewayConfig,
  env: Environment,
  log: JsonLog,
  makeTransport: MakeTransport,
  flows: () => readonly Flow[] = fixedFlows(config),
): Promise<ServedGateway> {
  const authenticate = authenticationFromConfig(config.gateway);
  const backend = await backendFromConfig(config, env, log, makeTransport, flows);
  const { gatewaySecret, gateway } = config;
  const clock = systemClock;
  const face = httpFace({
    gateway: backend.gateway,
    authenticate,
    ...(gatewaySecret !== undefined && { verifyReports: reportVerification(gatewaySecret, clock.now) }),
    clock,
    telemetry: log,
    rate: { perSecond: gateway.ratePerSecond, burst: gateway.ratePerSecond * BURST_SECONDS },
    keepAliveMs: KEEP_ALIVE_MS,
    maxWaitMs: MAX_WAIT_MS,
  });
  const { origins, publicUrl } = gateway;
  const reached = defined({ publicUrl });
  mountFaces(face, { gateway: backend.gateway, origins, keepAliveMs: KEEP_ALIVE_MS, log, ...reached });
  return { face, ...backend };
}

/** Throws an error with a message for the operator if a setting is invalid. */
export function gatewayConfigFrom(env: Environment): {
  readonly config: GatewayConfig;
  readonly log: JsonLog;
} {
  const reading = configFromEnvironment(readGatewayConfig, { ASYA_ACTOR_NAME: GATEWAY, ...env });
  if ('message' in reading) throw new Error(reading.message);
  const { config } = reading;
  const write = (line: string) => process.stdout.write(`${line}\n`);
  return { config, log: jsonLog({ level: config.logLevel, actor: GATEWAY, now: systemClock.now, write }) };
}

function fixedFlows({ gateway }: GatewayConfig): () => readonly Flow[] {
  if (gateway.flowsFile === undefined)
    throw new Error('asya: ASYA_GATEWAY_FLOWS_FILE is not set; it names the file with the flows');
  const flows = flowsFromFile(gateway.flowsFile);
  return () => flows;
}
