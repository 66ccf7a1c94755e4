import { type EmbeddedSqs, startEmbeddedSqs } from '../support/embedded-sqs.ts';
import type { SidecarBroker } from './brokers/sidecar-broker.ts';
import { sqsBroker } from './brokers/sqs-broker.ts';
import { type Mailbox, mailbox, type Wire } from './envelopes.ts';
import {
  endProcesses,
  type RunningProcess,
  startSidecar,
  temporaryFolder,
  untilWorking,
  type Variables,
} from './sidecar-process.ts';

/** A broker, a folder for sockets, and sidecars that use them: one per test file. */
export interface BrokerStage {
  readonly inbox: Mailbox;
  readonly folder: string;
  /** The environment variables for a sidecar of this actor. */
  variables(actor: string, more?: Variables): Variables;
  /** Creates the actor's queue and starts a sidecar. Resolves when the sidecar receives from it. */
  sidecar(actor: string, more: Variables): Promise<RunningProcess>;
  /** Sends to the queue of the envelope's current actor. */
  send(envelope: Wire): Promise<void>;
  close(): Promise<void>;
}

/** A stage on the embedded SQS, whose queues a test can inspect. */
export interface Stage extends BrokerStage {
  readonly sqs: EmbeddedSqs;
}

export async function setStage(...queues: readonly string[]): Promise<Stage> {
  const sqs = await startEmbeddedSqs();
  return { ...(await setStageOn(sqsBroker(sqs), queues)), sqs };
}

export async function setStageOn(broker: SidecarBroker, queues: readonly string[]): Promise<BrokerStage> {
  const folder = await temporaryFolder();
  for (const queue of queues) await broker.createQueue(queue);
  const variables = (actor: string, more: Variables = {}): Variables => ({
    ASYA_ACTOR_NAME: actor,
    ...broker.variables,
    ASYA_RUNTIME_URL: `unix:${folder}/${actor}.sock`,
    ASYA_METRICS_ADDR: '',
    ...more,
  });
  return {
    folder,
    inbox: mailbox(broker.take),
    variables,
    sidecar: async (actor, more) => {
      await broker.createQueue(actor);
      const sidecar = startSidecar(variables(actor, more));
      await untilWorking(sidecar);
      return sidecar;
    },
    send: (envelope) => broker.send(envelope.route.curr, JSON.stringify(envelope)),
    close: async () => {
      await endProcesses();
      await broker.close();
    },
  };
}
