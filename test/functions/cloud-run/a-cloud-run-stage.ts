import { join } from 'node:path';
import type { PubsubEmulator } from '../../../lib/local/engines/pubsub-emulator.ts';
import type { Wire } from '../../sidecar/envelopes.ts';
import {
  endProcesses,
  pythonRuntime,
  ROOT,
  type RunningProcess,
  saying,
  startProcess,
  temporaryFolder,
  type Variables,
} from '../../sidecar/sidecar-process.ts';
import { PROJECT, startPubsub } from '../../support/pubsub.ts';
import { type PubsubRest, pubsubRest } from '../../support/pubsub-rest.ts';

interface Host {
  readonly process: RunningProcess;
  readonly url: string;
}

export interface CloudRunStage {
  readonly emulator: PubsubEmulator;
  readonly pubsub: PubsubRest;
  readonly folder: string;
  /** Starts the host of an actor and waits until it accepts pushes. Without ASYA_RUNTIME_URL, its runtime is a child. */
  host(actor: string, variables?: Variables): Promise<Host>;
  /** Creates the actor's topic and dead-letter topic, and the subscription that pushes to its host. */
  subscribe(actor: string, host: Host): Promise<void>;
  /** Waits for the envelope with this id. */
  receive(subscription: string, id: string, withinMs?: number): Promise<Wire>;
  close(): Promise<void>;
}

/** Starts the host in its own process, as when deployed. */
export function startHost(variables: Variables): RunningProcess {
  return startProcess([join(ROOT, 'functions/cloud-run/index.ts')], { PORT: '0', ...variables });
}

export async function setCloudRunStage(...queues: readonly string[]): Promise<CloudRunStage> {
  const emulator = await startPubsub();
  const pubsub = pubsubRest(emulator);
  const folder = await temporaryFolder();
  for (const queue of queues) {
    await pubsub.topic(queue);
    await pubsub.subscription(queue);
  }
  return {
    emulator,
    pubsub,
    folder,
    host: async (actor, variables = {}) => {
      const process = startHost({
        ASYA_ACTOR_NAME: actor,
        ASYA_PUBSUB_PROJECT_ID: PROJECT,
        ASYA_PUBSUB_ENDPOINT: emulator.endpoint,
        ASYA_PUSH_AUTH: 'none',
        ASYA_METRICS_ADDR: '',
        ...(actor.startsWith('x-') || variables['ASYA_RUNTIME_URL'] !== undefined
          ? {}
          : { ASYA_RUNTIME_COMMAND: pythonRuntime('behaviours.handle') }),
        ...variables,
      });
      const { port } = await process.untilLine(saying('accepting pushes'), 60_000);
      return { process, url: `http://127.0.0.1:${port}` };
    },
    subscribe: async (actor, { url }) => {
      const deadLetterTopic = `${actor}-dlq`;
      await pubsub.topic(actor);
      await pubsub.topic(deadLetterTopic);
      await pubsub.subscription(deadLetterTopic);
      await pubsub.subscription(actor, { pushTo: url, deadLetterTopic });
    },
    receive: async (subscription, id, withinMs) => {
      const isIt = ({ data }: { readonly data: string }) => JSON.parse(data).id === id;
      return JSON.parse((await pubsub.next(subscription, isIt, withinMs)).data) as Wire;
    },
    close: async () => {
      await endProcesses();
      await emulator.close();
    },
  };
}

/** The body of a push, for tests that post without Pub/Sub. */
export function pushOf(envelope: Wire, messageId = envelope.id): string {
  return JSON.stringify({
    message: {
      data: Buffer.from(JSON.stringify(envelope)).toString('base64'),
      messageId,
      publishTime: new Date().toISOString(),
    },
    subscription: `projects/${PROJECT}/subscriptions/${envelope.route.curr}`,
  });
}
