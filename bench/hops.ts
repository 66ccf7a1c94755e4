import type { ChildProcess } from 'node:child_process';
import {
  CreateQueueCommand,
  PurgeQueueCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { sqsClient } from '../lib/adapters/sqs/sqs-client.ts';
import { sqsTransport } from '../lib/adapters/sqs/sqs-transport.ts';
import { consumeQueue } from '../lib/app/delivery/consume-queue.ts';
import { defined } from '../lib/core/text/defined.ts';
import type { Progress } from '../lib/ports/reports.ts';
import type { Transport } from '../lib/ports/transport.ts';
import { ask, startChild, stopChild } from './child.ts';
import { runContest } from './measure.ts';
import { envelopeOf, PAYLOADS } from './payloads.ts';
import { consumerPeer } from './peers/sqs-consumer-peer.ts';
import type { Row } from './report.ts';
import { ECHO, lineTo } from './subjects/router.ts';

export const MESSAGES = 600;
const ROUNDS = 15;

/** Moves envelopes from one queue to the next over a real SQS API: receive, send, delete. */
export async function benchHops(): Promise<readonly Row[]> {
  const { child, firstMessage } = await startChild('peers/sqs-engine.ts');
  const endpoint = String(firstMessage);
  const client = sqsClient({ endpoint, region: 'us-east-1' }, {});
  const from = `${endpoint}/000000000000/score`;
  const to = `${endpoint}/000000000000/store`;
  for (const QueueName of ['score', 'store']) await client.send(new CreateQueueCommand({ QueueName }));
  const queues = { from, to };
  const rows: Row[] = [];
  for (const [mode, goal] of [
    ['single', 5],
    ['batch', 2],
  ] as const) {
    const { name, subjectUs, peerUs, ratio } = await runContest({
      name: mode === 'single' ? 'one send per message' : 'its batch mode',
      units: MESSAGES,
      rounds: ROUNDS,
      before: () => refill(client, queues),
      subject: () => moveWithSidecar(endpoint),
      peer: () => moveWithPeer(client, queues, mode),
    });
    // More hops per second are better, so the ratio is inverted.
    rows.push({
      group: 'hops per second / sqs-consumer',
      name,
      subjectUs,
      peerUs,
      ratio: 1 / ratio,
      atLeast: goal,
    });
  }
  await refill(client, queues);
  await requestsSoFar(child);
  await moveWithSidecar(endpoint);
  const requests = await requestsSoFar(child);
  rows.push({
    group: 'SQS requests per hop',
    name: describe(requests),
    ratio: sum(Object.values(requests)) / MESSAGES,
    unit: 'requests',
    atMost: 0.31,
  });
  client.destroy();
  await stopChild(child);
  return rows;
}

export interface Queues {
  readonly from: string;
  readonly to: string;
}

export async function refill(
  client: SQSClient,
  { from, to }: Queues,
  body = envelopeOf(PAYLOADS.text(1024)),
): Promise<void> {
  await client.send(new PurgeQueueCommand({ QueueUrl: to }));
  for (let index = 0; index < MESSAGES; index += 10) {
    const Entries = Array.from({ length: 10 }, (_, entry) => ({ Id: String(entry), MessageBody: body }));
    await client.send(new SendMessageBatchCommand({ QueueUrl: from, Entries }));
  }
}

/** Resolves with the last ack. Stopping the consumer is not measured. */
export async function moveWithSidecar(endpoint: string, progress?: Progress): Promise<void> {
  const client = sqsClient({ endpoint, region: 'us-east-1' }, {});
  const transport = sqsTransport({ client, visibilitySeconds: 600, waitSeconds: 0 });
  const stopping = new AbortController();
  let moved = 0;
  const line = {
    ...lineTo(ECHO, ({ to, body }) => transport.send(to, body)),
    ...defined({ progress }),
  };
  const missingQueue = { autoCreate: false, maxAttempts: 1, backoffMs: 1 };
  await new Promise<void>((resolve, reject) => {
    const counting: Transport = {
      ...transport,
      ack: async (delivery) => {
        const reply = await transport.ack(delivery);
        moved++;
        if (moved === MESSAGES) resolve();
        return reply;
      },
    };
    consumeQueue(
      { queue: 'score', transport: counting, line, concurrency: 10, missingQueue },
      stopping.signal,
    ).then(() => transport.close(), reject);
  });
  stopping.abort();
}

function moveWithPeer(client: SQSClient, { from, to }: Queues, mode: 'single' | 'batch'): Promise<void> {
  return new Promise((resolve) => {
    const peer = consumerPeer(client, from, to, mode, MESSAGES, () => {
      peer.stop();
      resolve();
    });
  });
}

async function requestsSoFar(engine: ChildProcess): Promise<Readonly<Record<string, number>>> {
  return (await ask(engine, 'counts')) as Record<string, number>;
}

function describe(requests: Readonly<Record<string, number>>): string {
  return Object.entries(requests)
    .map(([action, count]) => `${action} ${count}`)
    .join(', ');
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
