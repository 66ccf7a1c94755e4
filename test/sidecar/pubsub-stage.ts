import { type PubsubClient, pubsubClient } from '../../lib/adapters/pubsub/pubsub-client.ts';
import { pubsubTransport } from '../../lib/adapters/pubsub/pubsub-transport.ts';
import { startGrpcProxy } from '../support/grpc-proxy.ts';
import { PROJECT, startPubsub } from '../support/pubsub.ts';
import type { Wire } from './envelopes.ts';
import {
  endProcesses,
  pause,
  type RunningProcess,
  startSidecar,
  temporaryFolder,
  untilWorking,
  type Variables,
} from './sidecar-process.ts';

/** Google's Pub/Sub emulator and sidecars that use it: one per test file. */
export interface PubsubStage {
  readonly folder: string;
  readonly client: PubsubClient;
  createQueue(queue: string): Promise<void>;
  /** The environment variables for a sidecar of this actor. */
  variables(actor: string, more?: Variables): Variables;
  /** The same for a sidecar that the test kills, which the emulator does not notice. */
  doomedVariables(actor: string, more?: Variables): Variables;
  /** Creates the actor's queue and starts a sidecar. Resolves when the sidecar receives from it. */
  sidecar(actor: string, more: Variables): Promise<RunningProcess>;
  /** Sends to the queue of the envelope's current actor. */
  send(envelope: Wire): Promise<void>;
  sendText(queue: string, text: string): Promise<void>;
  /** Receives and acknowledges everything that is in a queue now. */
  take(queue: string): Promise<readonly string[]>;
  /** The next envelope in this queue that matches. The others are kept for later calls. */
  next(queue: string, matches: (envelope: Wire) => boolean, withinMs?: number): Promise<Wire>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 60_000;

export async function setPubsubStage(...queues: readonly string[]): Promise<PubsubStage> {
  const emulator = await startPubsub();
  const folder = await temporaryFolder();
  const proxy = await startGrpcProxy(emulator.endpoint);
  const { endpoint } = emulator;
  const client = await pubsubClient({ projectId: PROJECT, endpoint });
  const maker = pubsubTransport({
    client: await pubsubClient({ projectId: PROJECT, endpoint }),
    visibilityMs: 60_000,
    delayerTopic: 'none',
  });
  const arrived = new Map<string, Wire[]>();

  async function createQueue(queue: string): Promise<void> {
    const reply = await maker.ensureQueue(queue);
    if (!reply.ok) throw new Error(reply.problem);
  }
  for (const queue of queues) await createQueue(queue);

  const variables = (actor: string, more: Variables = {}): Variables => ({
    ASYA_ACTOR_NAME: actor,
    ASYA_TRANSPORT: 'pubsub',
    ASYA_PUBSUB_PROJECT_ID: PROJECT,
    ASYA_PUBSUB_ENDPOINT: endpoint,
    ASYA_RUNTIME_URL: `unix:${folder}/${actor}.sock`,
    ASYA_METRICS_ADDR: '',
    ...more,
  });

  async function sendText(queue: string, text: string): Promise<void> {
    await client.publisher.topic(queue).publishMessage({ data: Buffer.from(text) });
  }

  async function take(queue: string): Promise<readonly string[]> {
    const subscription = `projects/${PROJECT}/subscriptions/${queue}`;
    const [{ receivedMessages }] = await client.subscriber.pull({
      subscription,
      maxMessages: 1_000,
      returnImmediately: true,
    });
    const messages = receivedMessages ?? [];
    const ackIds = messages.map(({ ackId }) => ackId ?? '');
    if (ackIds.length > 0) await client.subscriber.acknowledge({ subscription, ackIds });
    return messages.map(({ message }) => Buffer.from(message?.data ?? '').toString());
  }

  return {
    folder,
    client,
    createQueue,
    variables,
    doomedVariables: (actor, more) => variables(actor, { ASYA_PUBSUB_ENDPOINT: proxy.endpoint, ...more }),
    sidecar: async (actor, more) => {
      await createQueue(actor);
      const sidecar = startSidecar(variables(actor, more));
      await untilWorking(sidecar);
      return sidecar;
    },
    send: (envelope) => sendText(envelope.route.curr, JSON.stringify(envelope)),
    sendText,
    take,
    next: async (queue, matches, withinMs = TIMEOUT_MS) => {
      const kept = arrived.get(queue) ?? [];
      arrived.set(queue, kept);
      for (const endsAt = Date.now() + withinMs; ; await pause(30)) {
        kept.push(...(await take(queue)).map((text) => JSON.parse(text) as Wire));
        const at = kept.findIndex(matches);
        const [found] = at < 0 ? [] : kept.splice(at, 1);
        if (found !== undefined) return found;
        if (Date.now() > endsAt) {
          const others = kept.map(({ id, status }) => `${id} (${status?.phase}, ${status?.reason})`);
          throw new Error(`no matching envelope in ${queue} within ${withinMs} ms; others: ${others}`);
        }
      }
    },
    close: async () => {
      await endProcesses();
      await maker.close();
      await client.close();
      await proxy.close();
      await emulator.close();
    },
  };
}

export function withId(id: string): (envelope: Wire) => boolean {
  return (envelope) => envelope.id === id;
}
