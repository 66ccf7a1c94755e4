import { createHash, randomBytes } from 'node:crypto';
import { problemText } from '../../adapters/http/problem.ts';
import { jsonLog } from '../../adapters/log/json-log.ts';
import { systemClock } from '../../adapters/system/system.ts';
import { gatewayFromConfig } from '../../assembly/from-config/gateway-from-config.ts';
import { configFromEnvironment } from '../../assembly/from-config/read-config.ts';
import { transportFromConfig } from '../../assembly/from-config/transport-from-config.ts';
import { serveGateway } from '../../assembly/hosts/serve-gateway.ts';
import type { GatewayAccess } from '../../assembly/mesh/running-mesh.ts';
import { GATEWAY } from '../../config/plan/gateway-plan.ts';
import type { LogLevel } from '../../config/settings/host-config.ts';
import { readGatewayConfig } from '../../config/settings/read-host-config.ts';
import type { Flow } from '../../core/task/flow.ts';
import { type GuardRules, guardServer } from '../engines/browser-guard.ts';

/** The gateway of a local mesh: in this process, on loopback, without access for foreign web pages. */
export interface LocalGateway extends GatewayAccess {
  /** Secret that the mesh's functions sign their reports with. */
  readonly secret: string;
  /** Starts to process timers in this process. Call it if no function does, after their queue was created. */
  workTimers(): void;
  close(): Promise<void>;
}

export interface LocalGatewayOptions {
  /** Settings that point to the mesh's engines. */
  readonly variables: Readonly<Record<string, string>>;
  /** @default `usualPort` if it is free, otherwise any free port */
  readonly port?: number;
  /** The port of earlier starts. If another process uses it, the gateway takes any free port and warns. */
  readonly usualPort?: number;
  /**
   * The API key for callers.
   * @default a new one
   */
  readonly key?: string;
  /** Returns the current flows, which change with the manifest. */
  readonly flows: () => readonly Flow[];
  readonly logLevel: LogLevel;
  readonly onLine: (line: string) => void;
  readonly onWarning: (text: string) => void;
}

const LOOPBACK = '127.0.0.1';
/** Id of the only caller. It is constant, so that tasks are still visible after a restart of the mesh. */
const KEY_ID = 'local';

/** Rejects other host names that resolve to this machine, and pages of other origins. */
const GUARD: GuardRules = {
  hostNames: [LOOPBACK, 'localhost'],
  allowsOwnPages: true,
  // Unlike the engines, the gateway does not repeat received values in its errors.
  answer: ({ what, hosts }) => {
    const detail = `${what} is refused; a local gateway accepts requests at ${hosts.join(' and ')} only, from programs and its own pages`;
    return { contentType: 'application/problem+json', body: problemText({ status: 403, detail }).body };
  },
};

export async function startLocalGateway(
  options: LocalGatewayOptions,
): Promise<{ gateway: LocalGateway } | { problem: string }> {
  const { port, usualPort, flows, logLevel, onLine, onWarning } = options;
  const { key = `asya_${randomBytes(24).toString('base64url')}` } = options;
  const secret = randomBytes(32).toString('hex');
  const sha256 = createHash('sha256').update(key).digest('hex');
  const env = {
    ...options.variables,
    ASYA_ACTOR_NAME: GATEWAY,
    ASYA_LOG_LEVEL: logLevel,
    ASYA_GATEWAY_SECRET: secret,
    ASYA_GATEWAY_KEYS: JSON.stringify([{ id: KEY_ID, sha256 }]),
  };
  const reading = configFromEnvironment(readGatewayConfig, env);
  if ('message' in reading) throw new Error(reading.message);
  const log = jsonLog({ level: logLevel, actor: GATEWAY, now: systemClock.now, write: onLine });
  const served = await gatewayFromConfig(reading.config, env, log, transportFromConfig, flows);
  try {
    const listen = (at: number) =>
      serveGateway(served.face, at, LOOPBACK, (server) => guardServer(server, GUARD));
    const listening = await listen(port ?? usualPort ?? 0).catch(async (error: unknown) => {
      const isUsed = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
      if (port !== undefined || usualPort === undefined || !isUsed) throw error;
      const other = await listen(0);
      onWarning(
        `another process uses port ${usualPort}, the gateway's port so far; until the next start the gateway listens on port ${other.port}`,
      );
      return other;
    });
    const url = `http://${LOOPBACK}:${listening.port}`;
    const stop = new AbortController();
    let timers: Promise<void> | undefined;
    const workTimers = () => {
      timers ??= served.consumeTimers(stop.signal);
    };
    const close = async () => {
      stop.abort();
      await listening.close();
      await timers;
      await served.close();
    };
    return { gateway: { url, key, secret, workTimers, close } };
  } catch (error) {
    await served.close();
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EADDRINUSE' ? 'the port is already in use' : message;
    return {
      problem: `the gateway cannot listen on port ${port ?? usualPort ?? 0} of ${LOOPBACK}: ${why}; stop the process that listens there, or choose another --gateway-port`,
    };
  }
}
