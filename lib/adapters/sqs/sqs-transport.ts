import {
  type BatchResultErrorEntry,
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { type Batcher, batcher } from '../../async/batcher.ts';
import { inFlight } from '../../async/in-flight.ts';
import { linkedSignal } from '../../async/linked-signal.ts';
import { unlessAborted } from '../../async/until-aborted.ts';
import { queuePlan } from '../../config/plan/queue-plan.ts';
import { ACCEPTED, type Refusal, type Reply } from '../../ports/reply.ts';
import { type Delivery, ensured, type Receipt, type Transport } from '../../ports/transport.ts';
import { isQueueMissing } from './queue-attributes.ts';
import { delaySecondsFrom, SQS_LIMITS, SQS_MAX_BATCH } from './sqs-limits.ts';
import { sqsQueues } from './sqs-queues.ts';

export interface SqsTransportOptions {
  readonly client: SQSClient;
  readonly visibilitySeconds: number;
  readonly waitSeconds: number;
  /** How long the first message of a batch waits for others. @default 4 */
  readonly lingerMs?: number;
  /** How long a request other than a poll waits for its response before the SDK retries it. @default 15,000 */
  readonly requestTimeoutMs?: number;
  /** Escapes characters beyond U+FFFF, which embedded engines reject and SQS accepts. @default false */
  readonly escapesPairs?: boolean;
}

const MAX_BYTES = SQS_LIMITS.maxBodyBytes;
const MAX_VISIBILITY_SECONDS = 43_200;
/** Long enough to batch sends that are made together, short compared to a request to SQS. */
const LINGER_MS = 4;
/** Per queue and operation. A large fan-out must not need more connections than the client has. */
const MAX_REQUESTS_IN_FLIGHT = 40;
/** SQS responds to everything but a poll at once. If it does not, the connection is half open. */
const REQUEST_TIMEOUT_MS = 15_000;
/** The timeout of a batch allows for a network of 16 KB per second. */
const MIN_BYTES_PER_MS = 16;

/** SQS standard queues. Sends, acks and nacks made at about the same time share a request. */
export function sqsTransport(options: SqsTransportOptions): Transport {
  const { client, visibilitySeconds, waitSeconds, lingerMs = LINGER_MS, escapesPairs = false } = options;
  const { requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  const smallRequest = { requestTimeout: requestTimeoutMs };
  const queues = sqsQueues(client, queuePlan(visibilitySeconds), requestTimeoutMs);
  const batchers = new Map<string, Batcher<never, Reply>>();
  const closing = new AbortController();
  const receiving = inFlight();

  /** One batcher per queue and operation. */
  function batched<Item>(
    operation: string,
    queue: string,
    request: (url: string, items: readonly Item[]) => Promise<BatchOutput>,
  ): Batcher<Item, Reply> {
    const key = `${operation} ${queue}`;
    const known = batchers.get(key) as Batcher<Item, Reply> | undefined;
    if (known !== undefined) return known;
    const made = batcher<Item, Reply>({
      maxItems: SQS_MAX_BATCH,
      maxBytes: MAX_BYTES,
      lingerMs,
      maxInFlight: MAX_REQUESTS_IN_FLIGHT,
      run: async (items) => {
        try {
          return repliesOf(items.length, await request(await queues.urlOf(queue), items));
        } catch (error) {
          if (isQueueMissing(error)) queues.forget(queue);
          return items.map(() => refusalOf(error, queue));
        }
      },
    });
    batchers.set(key, made as unknown as Batcher<never, Reply>);
    return made;
  }

  function send(queue: string, text: string, delayMs: number): Promise<Reply> {
    const body = withSafeCharacters(text, escapesPairs ? REFUSED_BY_ENGINES : REFUSED);
    const bytes = Buffer.byteLength(body);
    if (bytes > MAX_BYTES) {
      return Promise.resolve({
        ok: false,
        problem: `the message has ${bytes} bytes; SQS accepts at most ${MAX_BYTES}`,
      });
    }
    const outgoing = batched<Outgoing>('send', queue, (QueueUrl, items) => {
      const batchBytes = items.reduce((sum, item) => sum + item.bytes, 0);
      return client.send(
        new SendMessageBatchCommand({
          QueueUrl,
          Entries: items.map((item, index) => ({
            Id: String(index),
            MessageBody: item.body,
            ...(item.delaySeconds > 0 ? { DelaySeconds: item.delaySeconds } : {}),
          })),
        }),
        { requestTimeout: requestTimeoutMs + Math.floor(batchBytes / MIN_BYTES_PER_MS) },
      );
    });
    return outgoing.add({ body, bytes, delaySeconds: delaySecondsFrom(delayMs) }, bytes);
  }

  function setVisibility(delivery: Delivery, seconds: number): Promise<Reply> {
    const changes = batched<{ handle: string; seconds: number }>(
      'visibility',
      delivery.queue,
      (QueueUrl, items) =>
        client.send(
          new ChangeMessageVisibilityBatchCommand({
            QueueUrl,
            Entries: items.map((item, index) => ({
              Id: String(index),
              ReceiptHandle: item.handle,
              VisibilityTimeout: item.seconds,
            })),
          }),
          smallRequest,
        ),
    );
    return changes.add(
      { handle: String(delivery.handle), seconds: Math.min(seconds, MAX_VISIBILITY_SECONDS) },
      0,
    );
  }

  async function receive(queue: string, maxDeliveries: number, signal: AbortSignal): Promise<Receipt> {
    try {
      const { Messages = [] } = await client.send(
        new ReceiveMessageCommand({
          QueueUrl: await unlessAborted(queues.urlOf(queue), signal),
          MaxNumberOfMessages: maxDeliveries,
          WaitTimeSeconds: waitSeconds,
          VisibilityTimeout: visibilitySeconds,
          MessageSystemAttributeNames: ['ApproximateReceiveCount'],
        }),
        { abortSignal: signal },
      );
      return { ok: true, deliveries: Messages.map((message) => deliveryFromMessage(message, queue)) };
    } catch (error) {
      if (signal.aborted) return { ok: true, deliveries: [] };
      if (isQueueMissing(error)) queues.forget(queue);
      return refusalOf(error, queue);
    }
  }

  return {
    traits: {
      name: 'sqs',
      ...SQS_LIMITS,
      maxBatch: SQS_MAX_BATCH,
      visibilityMs: visibilitySeconds * 1000,
      countsReceives: true,
    },
    receive: (queue, maxDeliveries, signal) => {
      const ending = linkedSignal([signal, closing.signal], { delayMs: ABORT_DELAY_MS });
      return receiving.track(receive(queue, maxDeliveries, ending.signal).finally(ending.dispose));
    },
    send: (queue, body) => send(queue, body, 0),
    sendWithDelay: (queue, body, delayMs) => send(queue, body, delayMs),
    ack: (delivery) => {
      const deletions = batched<string>('delete', delivery.queue, (QueueUrl, handles) =>
        client.send(
          new DeleteMessageBatchCommand({
            QueueUrl,
            Entries: handles.map((handle, index) => ({ Id: String(index), ReceiptHandle: handle })),
          }),
          smallRequest,
        ),
      );
      return deletions.add(String(delivery.handle), 0);
    },
    nack: (delivery, pauseMs) => setVisibility(delivery, Math.ceil(pauseMs / 1000)),
    extend: (delivery) => setVisibility(delivery, visibilitySeconds),
    ensureQueue: async (queue) => {
      try {
        return ensured(await queues.ensure(queue));
      } catch (error) {
        return refusalOf(error, queue);
      }
    },
    checkQueue: async (queue) => {
      try {
        await queues.check(queue);
        return ACCEPTED;
      } catch (error) {
        return refusalOf(error, queue);
      }
    },
    flush: () => {
      for (const one of batchers.values()) one.flush();
    },
    close: async () => {
      closing.abort();
      await receiving.settled();
      await Promise.all([...batchers.values()].map((one) => one.drain()));
      client.destroy();
    },
  };
}

interface Outgoing {
  readonly body: string;
  readonly bytes: number;
  readonly delaySeconds: number;
}

interface BatchOutput {
  readonly Successful?: readonly { readonly Id: string | undefined }[] | undefined;
  readonly Failed?: readonly BatchResultErrorEntry[] | undefined;
}

/** A request may succeed while some of its entries fail. An entry that the response does not mention was not accepted. */
function repliesOf(count: number, { Successful = [], Failed = [] }: BatchOutput): readonly Reply[] {
  const succeeded = new Set(Successful.map(({ Id }) => Id));
  const failed = new Map(Failed.map((entry) => [entry.Id, entry]));
  return Array.from({ length: count }, (_, index) => {
    const id = String(index);
    const { Code = 'NoResult', Message = 'the response does not mention this entry' } = failed.get(id) ?? {};
    return succeeded.has(id) ? ACCEPTED : { ok: false, problem: `${Code}: ${Message}` };
  });
}

function deliveryFromMessage(message: Message, queue: string): Delivery {
  return {
    body: message.Body ?? '',
    messageId: message.MessageId ?? '',
    receiveCount: Number(message.Attributes?.ApproximateReceiveCount ?? 1),
    queue,
    handle: message.ReceiptHandle ?? '',
  };
}

function refusalOf(error: unknown, queue: string): Refusal {
  if (isQueueMissing(error))
    return { ok: false, problem: `queue "${queue}" does not exist`, isQueueMissing: true };
  const what = String(error);
  return { ok: false, problem: `${what} (queue "${queue}")` };
}

/**
 * An aborted poll may have deliveries on their way, which would then stay hidden for the whole visibility timeout. It gets
 * this long to return them.
 */
const ABORT_DELAY_MS = 200;

/** Two characters that JSON allows and SQS does not. */
const REFUSED = /[\ufffe\uffff]/g;
const REFUSED_BY_ENGINES = /[\ufffe\uffff\ud800-\udfff]/g;

/** In JSON these characters can only occur in strings, where an escape means the same. */
function withSafeCharacters(text: string, refused: RegExp): string {
  return text.replace(refused, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
}
