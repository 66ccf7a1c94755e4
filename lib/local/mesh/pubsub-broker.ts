import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningDelayer, startDelayer } from '../../../functions/pubsub-delayer/delayer.ts';
import { jsonLog } from '../../adapters/log/json-log.ts';
import { type PubsubClient, pubsubClient } from '../../adapters/pubsub/pubsub-client.ts';
import { pubsubTransport } from '../../adapters/pubsub/pubsub-transport.ts';
import { systemClock } from '../../adapters/system/system.ts';
import { delayerConfigFrom } from '../../config/settings/delayer-config.ts';
import type { LogLevel } from '../../config/settings/host-config.ts';
import { DEFAULT_DELAYER_TOPIC } from '../../core/pipeline/delayer.ts';
import { DEFAULT_ERRORS_TOPIC } from '../../core/pipeline/pipeline.ts';
import { errorText } from '../../core/text/error-text.ts';
import { mistakesText } from '../../core/text/mistake.ts';
import { guardServer, PROGRAMS_ONLY } from '../engines/browser-guard.ts';
import { findPubsubEmulator } from '../engines/find-pubsub-emulator.ts';
import { type PubsubEmulator, startPubsubEmulator } from '../engines/pubsub-emulator.ts';
import type { MeshBroker } from './mesh-broker.ts';
import { runAsWorkers } from './worker-runner.ts';

export interface PubsubBrokerOptions {
  /**
   * Folder for the delayer's timers.
   * @default a temporary folder
   */
  readonly dataDir?: string;
  readonly logLevel: LogLevel;
  readonly onLine: (actor: string, line: string) => void;
  readonly onWarning: (text: string) => void;
}

const PROJECT = 'asya-local';
/** Topic names have at least three characters and begin with a letter. Actor names need not, so a prefix is required. */
const NAMESPACE = 'local';
const LOOPBACK = '127.0.0.1';
const DELAYER = 'pubsub-delayer';
/** Required by the transport, but not used: it only creates queues here. */
const VISIBILITY_MS = 60_000;

/** Starts Google's emulator and the delayer with a timer file. Sidecars pull. Returns a problem if that is not possible. */
export async function startPubsubBroker(
  options: PubsubBrokerOptions,
): Promise<{ broker: MeshBroker } | { problem: string }> {
  const found = findPubsubEmulator(process.env);
  if ('absence' in found) return { problem: found.absence };
  const closers: (() => Promise<void>)[] = [];
  try {
    const emulator = await startPubsubEmulator(found);
    closers.unshift(emulator.close);
    const client = await pubsubClient({ projectId: PROJECT, endpoint: emulator.endpoint });
    closers.unshift(client.close);
    const delayer = await openDelayer(client, emulator.endpoint, options);
    return { broker: brokerOn(emulator, client, delayer, options.onWarning) };
  } catch (error) {
    for (const close of closers) await close();
    return { problem: errorText(error) };
  }
}

function brokerOn(
  emulator: PubsubEmulator,
  client: PubsubClient,
  delayer: LocalDelayer,
  onWarning: PubsubBrokerOptions['onWarning'],
): MeshBroker {
  const { endpoint } = emulator;
  let isClosing = false;
  emulator.exited.then((how) => {
    if (!isClosing) onWarning(`Google's Pub/Sub emulator ${how}; ${EMULATOR_ENDED}`);
  });
  const transport = pubsubTransport({
    client,
    visibilityMs: VISIBILITY_MS,
    delayerTopic: DEFAULT_DELAYER_TOPIC,
  });
  return {
    description: `Google's Pub/Sub emulator at ${endpoint} (queued messages are lost when the mesh stops)`,
    namespace: NAMESPACE,
    variables: {
      ASYA_TRANSPORT: 'pubsub',
      ASYA_NAMESPACE: NAMESPACE,
      ASYA_PUBSUB_PROJECT_ID: PROJECT,
      ASYA_PUBSUB_ENDPOINT: endpoint,
    },
    gatewayWorksTimers: true,
    ensureQueue: async ({ name }) => {
      const reply = await transport.ensureQueue(name);
      if (!reply.ok) throw new Error(reply.problem);
    },
    // Pub/Sub reports queue depths to Cloud Monitoring only, and the emulator does not report them.
    depths: async () => undefined,
    run: async (options) => {
      const { plan } = options;
      // The gateway processes its timers itself.
      if (plan.folder === 'gateway-timer')
        return { plan, renew: () => {}, pids: () => [], stop: async () => {} };
      const { drains = [] } = plan;
      return runAsWorkers(options, drains.length === 0 ? {} : { ASYA_DEAD_LETTERS_OF: drains.join(',') });
    },
    close: async () => {
      isClosing = true;
      await delayer.close();
      await transport.close();
      await emulator.close();
    },
  };
}

const EMULATOR_ENDED = 'its queued messages are lost; stop the mesh and start it again';

interface LocalDelayer {
  close(): Promise<void>;
}

/** The deployed delayer, called by a push subscription without a token. So the server rejects browsers. */
async function openDelayer(
  { publisher }: PubsubClient,
  endpoint: string,
  { dataDir, logLevel, onLine }: PubsubBrokerOptions,
): Promise<LocalDelayer> {
  const temporaryFolder = dataDir === undefined ? mkdtempSync(join(tmpdir(), 'asya-timers-')) : undefined;
  const reading = delayerConfigFrom({
    DELAYER_PROJECT_ID: PROJECT,
    DELAYER_ENGINE: 'timer-file',
    DELAYER_TIMER_FILE: join(dataDir ?? temporaryFolder ?? '', 'timers.db'),
    DELAYER_PUSH_AUTH: 'none',
    DELAYER_PUBSUB_ENDPOINT: `http://${endpoint}`,
    DELAYER_GRACE_PERIOD: '1s',
    DELAYER_LOG_LEVEL: logLevel,
    PORT: '0',
  });
  if ('mistakes' in reading) throw new Error(mistakesText(reading.mistakes));
  const write = (line: string) => onLine(DELAYER, line);
  const log = jsonLog({ level: logLevel, actor: DELAYER, now: systemClock.now, write });
  let delayer: RunningDelayer | undefined;
  const close = async () => {
    await delayer?.stop();
    if (temporaryFolder !== undefined) rmSync(temporaryFolder, { recursive: true, force: true });
  };
  try {
    const guard = (server: Server) => guardServer(server, PROGRAMS_ONLY);
    delayer = await startDelayer(reading.config, log, { host: LOOPBACK, guard });
    for (const topic of [DEFAULT_DELAYER_TOPIC, DEFAULT_ERRORS_TOPIC]) await publisher.createTopic(topic);
    await publisher.createSubscription(DEFAULT_DELAYER_TOPIC, DEFAULT_DELAYER_TOPIC, {
      pushConfig: { pushEndpoint: `http://${LOOPBACK}:${delayer.port}/` },
    });
    await publisher.createSubscription(DEFAULT_ERRORS_TOPIC, DEFAULT_ERRORS_TOPIC);
    return { close };
  } catch (error) {
    await close();
    throw error;
  }
}
