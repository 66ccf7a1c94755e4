import { type EmbeddedSqs, startEmbeddedSqs } from '../support/embedded-sqs.ts';
import { type Mailbox, mailbox, type Wire } from './envelopes.ts';
import {
  endProcesses,
  type RunningProcess,
  startSidecar,
  temporaryFolder,
  untilWorking,
  type Variables,
} from './sidecar-process.ts';

/** A broker, a folder for sockets, and sidecars that work against them: one for each test file. */
export interface Stage {
  readonly sqs: EmbeddedSqs;
  readonly inbox: Mailbox;
  readonly folder: string;
  /** What a sidecar of this actor needs to work here. */
  variables(actor: string, more?: Variables): Variables;
  /** Makes the actor's queue, and resolves when the sidecar works on it. */
  sidecar(actor: string, more: Variables): Promise<RunningProcess>;
  /** To the queue of the actor it is at. */
  send(envelope: Wire): Promise<void>;
  close(): Promise<void>;
}

export async function setStage(...queues: readonly string[]): Promise<Stage> {
  const sqs = await startEmbeddedSqs();
  const folder = await temporaryFolder();
  for (const queue of queues) await sqs.createQueue(queue);
  const variables = (actor: string, more: Variables = {}): Variables => ({
    ASYA_ACTOR_NAME: actor,
    ASYA_SQS_ENDPOINT: sqs.endpoint,
    ASYA_SQS_WAIT_TIME_SECONDS: '1',
    ASYA_RUNTIME_URL: `unix:${folder}/${actor}.sock`,
    ASYA_METRICS_ADDR: '',
    ...more,
  });
  return {
    sqs,
    folder,
    inbox: mailbox(sqs),
    variables,
    sidecar: async (actor, more) => {
      await sqs.createQueue(actor);
      const sidecar = startSidecar(variables(actor, more));
      await untilWorking(sidecar);
      return sidecar;
    },
    send: (envelope) => sqs.send(envelope.route.curr, JSON.stringify(envelope)),
    close: async () => {
      await endProcesses();
      await sqs.close();
    },
  };
}
