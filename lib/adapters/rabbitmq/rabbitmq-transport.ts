import { inFlight } from '../../async/in-flight.ts';
import { ACCEPTED, type Reply } from '../../ports/reply.ts';
import { ensured, type Transport } from '../../ports/transport.ts';
import { connectionTo } from './connection.ts';
import { type Consumer, queueConsumer, settleDelivery } from './consumer.ts';
import { delayStepMs } from './delay-steps.ts';
import { publisherOn } from './publisher.ts';
import { type RabbitMqDelay, rabbitMqLimits } from './rabbitmq-limits.ts';
import { rabbitMqQueues } from './rabbitmq-queues.ts';
import { refusalOf } from './refusal.ts';

export interface RabbitMqTransportOptions {
  readonly url: string;
  readonly exchange: string;
  /** How many unsettled deliveries of a queue the broker gives at once. */
  readonly prefetch: number;
  readonly delay: RabbitMqDelay;
  /** What operators see in the broker's list of connections. */
  readonly name: string;
  /** How long a receive waits for a delivery. */
  readonly waitMs?: number;
}

const WAIT_MS = 20_000;
/** Looked for again after so long. */
const DELAY_QUEUE_KNOWN_MS = 60_000;
const CLOSE_WITHIN_MS = 5_000;

/** RabbitMQ's quorum queues behind a topic exchange. */
export function rabbitMqTransport(options: RabbitMqTransportOptions): Transport {
  const { url, exchange, prefetch, delay, name, waitMs = WAIT_MS } = options;
  const limits = rabbitMqLimits(delay);
  // Apart, because a broker that is short of memory stops reading from whoever sends: acks must go on all the same.
  const outgoing = connectionTo({ url, name: `${name}, sends` });
  const incoming = connectionTo({ url, name });
  const queues = rabbitMqQueues(incoming, exchange);
  const publisher = publisherOn(outgoing, rabbitMqQueues(outgoing, exchange).ensureExchange);
  const intakes = new Map<string, Consumer>();
  const delayQueues = new Map<string, { readonly name: Promise<string>; readonly madeAt: number }>();
  const closing = new AbortController();
  const requests = inFlight();

  function tooBig(bytes: number): Reply | undefined {
    if (bytes <= limits.maxBodyBytes) return undefined;
    return {
      ok: false,
      problem: `the message has ${bytes} bytes; on RabbitMQ it may have ${limits.maxBodyBytes}`,
    };
  }

  async function send(queue: string, text: string): Promise<Reply> {
    const body = Buffer.from(text);
    return tooBig(body.length) ?? publisher.publish(exchange, queue, body, queue);
  }

  async function sendWithDelay(queue: string, text: string, delayMs: number): Promise<Reply> {
    if (delayMs <= 0) return send(queue, text);
    if (delayMs > limits.maxDelayMs) return { ok: false, problem: tooLate(delayMs, limits.maxDelayMs) };
    const body = Buffer.from(text);
    const refused = tooBig(body.length);
    if (refused !== undefined) return refused;
    const stepMs = delayStepMs(delayMs);
    const publish = async () => publisher.publish('', await delayQueue(queue, stepMs), body, queue);
    const reply = await publish();
    if (reply.ok || !reply.isQueueMissing) return reply;
    // Deleted since it was known: made again, because a retry that is refused is a failure for good.
    delayQueues.delete(`${queue} ${stepMs}`);
    return publish();
  }

  function delayQueue(queue: string, stepMs: number): Promise<string> {
    const key = `${queue} ${stepMs}`;
    const known = delayQueues.get(key);
    if (known !== undefined && Date.now() - known.madeAt < DELAY_QUEUE_KNOWN_MS) return known.name;
    const made = queues.ensureDelay(queue, stepMs);
    delayQueues.set(key, { name: made, madeAt: Date.now() });
    made.catch(() => delayQueues.delete(key));
    return made;
  }

  function intake(queue: string): Consumer {
    const known =
      intakes.get(queue) ??
      queueConsumer({ link: incoming, queue, prefetch, waitMs, closing: closing.signal });
    intakes.set(queue, known);
    return known;
  }

  /** Accepted where it is done; refused where the broker refuses. */
  async function reply(queue: string, work: Promise<void>): Promise<Reply> {
    try {
      await work;
      return ACCEPTED;
    } catch (error) {
      return refusalOf(error, queue);
    }
  }

  const reach = (queue: string) => reply(queue, queues.check(queue));
  return {
    traits: { name: 'rabbitmq', ...limits, maxBatch: prefetch, countsReceives: true },
    receive: (queue, most, signal) => requests.track(intake(queue).receive(most, signal)),
    send: (queue, body) => requests.track(send(queue, body)),
    sendWithDelay: (queue, body, delayMs) =>
      requests.track(sendWithDelay(queue, body, delayMs).catch((error) => refusalOf(error, queue))),
    ack: (delivery) => requests.track(settleDelivery(delivery, { kind: 'ack' }, reach)),
    nack: (delivery, pauseMs) =>
      requests.track(settleDelivery(delivery, { kind: 'release', pauseMs }, reach)),
    extend: (delivery) => requests.track(settleDelivery(delivery, { kind: 'keep' }, reach)),
    ensureQueue: (queue) =>
      requests.track(queues.ensure(queue).then(ensured, (error: unknown) => refusalOf(error, queue))),
    reach: (queue) => requests.track(reach(queue)),
    close: async () => {
      closing.abort();
      await requests.settled(CLOSE_WITHIN_MS);
      // What was delivered and not settled goes back to its queue with the connection.
      await Promise.all([outgoing.close(), incoming.close()]);
    },
  };
}

function tooLate(delayMs: number, mostMs: number): string {
  return mostMs === 0
    ? 'RabbitMQ delays nothing by itself; ASYA_RABBITMQ_DELAY=ttl makes queues that do'
    : `${delayMs} ms of delay are more than ${mostMs}`;
}
