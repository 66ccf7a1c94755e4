import { type RabbitMqAdmin, rabbitMqAdmin } from '../support/rabbitmq-admin.ts';
import { type RabbitMqBroker, startRabbitMq } from '../support/rabbitmq-broker.ts';
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

/** A RabbitMQ, a folder for sockets, and sidecars that use them: one per test file. */
export interface RabbitMqStage {
  readonly broker: RabbitMqBroker;
  readonly admin: RabbitMqAdmin;
  readonly folder: string;
  /** The environment variables for a sidecar of this actor. */
  variables(actor: string, more?: Variables): Variables;
  /** Creates the actor's queue and starts a sidecar. Resolves when the sidecar receives from it. */
  sidecar(actor: string, more: Variables): Promise<RunningProcess>;
  /** Sends to the queue of the envelope's current actor. */
  send(envelope: Wire): Promise<void>;
  /** The envelope with this id that arrives in this queue. */
  arrival(queue: string, id: string, withinMs?: number): Promise<Wire>;
  close(): Promise<void>;
}

/** Long enough for a busy machine. */
const TIMEOUT_MS = 60_000;

export async function setRabbitMqStage(...queues: readonly string[]): Promise<RabbitMqStage> {
  const broker = await startRabbitMq();
  const admin = rabbitMqAdmin(broker.url);
  const folder = await temporaryFolder();
  for (const queue of queues) await admin.createQueue(queue);
  const arrived = new Map<string, Wire[]>();
  const variables = (actor: string, more: Variables = {}): Variables => ({
    ASYA_ACTOR_NAME: actor,
    ASYA_RABBITMQ_URL: broker.url,
    ASYA_RUNTIME_URL: `unix:${folder}/${actor}.sock`,
    ASYA_METRICS_ADDR: '',
    ...more,
  });
  return {
    broker,
    admin,
    folder,
    variables,
    sidecar: async (actor, more) => {
      await admin.createQueue(actor);
      const sidecar = startSidecar(variables(actor, more));
      await untilWorking(sidecar);
      return sidecar;
    },
    send: (envelope) => admin.send(envelope.route.curr, JSON.stringify(envelope)),
    arrival: async (queue, id, withinMs = TIMEOUT_MS) => {
      const envelopes = arrived.get(queue) ?? [];
      arrived.set(queue, envelopes);
      const endsAt = Date.now() + withinMs;
      for (;;) {
        envelopes.push(...(await admin.take(queue)).map((body) => JSON.parse(body) as Wire));
        const found = envelopes.find((envelope) => envelope.id === id);
        if (found !== undefined) return found;
        if (Date.now() > endsAt) throw new Error(`${id} did not arrive in ${queue} within ${withinMs} ms`);
        await pause(50);
      }
    },
    close: async () => {
      await endProcesses();
      await admin.close();
      await broker.close();
    },
  };
}
