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
  /** Most unsettled deliveries per queue that the broker pushes. */
  readonly prefetch: number;
  readonly delay: RabbitMqDelay;
  /** The name in the broker's list of connections. */
  readonly name: string;
  /** How long a receive waits for a delivery. @default 20,000 */
  readonly waitMs?: number;
}

const WAIT_MS = 20_000;
/** How long a delay queue is assumed to exist. */
const DELAY_QUEUE_KNOWN_MS = 60_000;
const CLOSE_TIMEOUT_MS = 5_000;

/** RabbitMQ quorum queues behind a topic exchange. */
export function rabbitMqTransport(options: RabbitMqTransportOptions): Transport {
  const { url, exchange, prefetch, delay, name, waitMs = WAIT_MS } = options;
  const limits = rabbitMqLimits(delay);
  // Two connections, because a broker that is short of memory stops reading from publishers. Acks must still work.
  const outgoing = connectionTo({ url, name: `${name}, sends` });
  const incoming = connectionTo({ url, name });
  const queues = rabbitMqQueues(incoming, exchange);
  const publisher = publisherOn(outgoing, rabbitMqQueues(outgoing, exchange).ensureExchange);
  const consumers = new Map<string, Consumer>();
  const delayQueues = new Map<string, { readonly name: Promise<string>; readonly madeAt: number }>();
  const closing = new AbortController();
  const requests = inFlight();

  function sizeRefusal(bytes: number): Reply | undefined {
    if (bytes <= limits.maxBodyBytes) return undefined;
    return {
      ok: false,
      problem: `the message has ${bytes} bytes; RabbitMQ accepts at most ${limits.maxBodyBytes}`,
    };
  }

  async function send(queue: string, text: string): Promise<Reply> {
    const body = Buffer.from(text);
    return sizeRefusal(body.length) ?? publisher.publish(exchange, queue, body, queue);
  }

  async function sendWithDelay(queue: string, text: string, delayMs: number): Promise<Reply> {
    if (delayMs <= 0) return send(queue, text);
    if (delayMs > limits.maxDelayMs) return { ok: false, problem: delayProblem(delayMs, limits.maxDelayMs) };
    const body = Buffer.from(text);
    const refused = sizeRefusal(body.length);
    if (refused !== undefined) return refused;
    const stepMs = delayStepMs(delayMs);
    const publish = async () => publisher.publish('', await delayQueue(queue, stepMs), body, queue);
    const reply = await publish();
    if (reply.ok || !reply.isQueueMissing) return reply;
    // The delay queue was deleted. Create it again, because a refused retry is a permanent failure.
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

  function consumerOf(queue: string): Consumer {
    const known =
      consumers.get(queue) ??
      queueConsumer({ connection: incoming, queue, prefetch, waitMs, closing: closing.signal });
    consumers.set(queue, known);
    return known;
  }

  /** Accepted if the work succeeds. */
  async function reply(queue: string, work: Promise<void>): Promise<Reply> {
    try {
      await work;
      return ACCEPTED;
    } catch (error) {
      return refusalOf(error, queue);
    }
  }

  const checkQueue = (queue: string) => reply(queue, queues.check(queue));
  return {
    traits: { name: 'rabbitmq', ...limits, maxBatch: prefetch, countsReceives: true },
    receive: (queue, maxDeliveries, signal) =>
      requests.track(consumerOf(queue).receive(maxDeliveries, signal)),
    send: (queue, body) => requests.track(send(queue, body)),
    sendWithDelay: (queue, body, delayMs) =>
      requests.track(sendWithDelay(queue, body, delayMs).catch((error) => refusalOf(error, queue))),
    ack: (delivery) => requests.track(settleDelivery(delivery, { kind: 'ack' }, checkQueue)),
    nack: (delivery, pauseMs) =>
      requests.track(settleDelivery(delivery, { kind: 'release', pauseMs }, checkQueue)),
    extend: (delivery) => requests.track(settleDelivery(delivery, { kind: 'keep' }, checkQueue)),
    ensureQueue: (queue) =>
      requests.track(queues.ensure(queue).then(ensured, (error: unknown) => refusalOf(error, queue))),
    checkQueue: (queue) => requests.track(checkQueue(queue)),
    close: async () => {
      closing.abort();
      await requests.settled(CLOSE_TIMEOUT_MS);
      // The broker requeues unsettled deliveries when the connection ends.
      await Promise.all([outgoing.close(), incoming.close()]);
    },
  };
}

function delayProblem(delayMs: number, maxDelayMs: number): string {
  return maxDelayMs === 0
    ? 'RabbitMQ has no delayed sends; ASYA_RABBITMQ_DELAY=ttl adds them'
    : `the delay is ${delayMs} ms; at most ${maxDelayMs} ms are possible`;
}
