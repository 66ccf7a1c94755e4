import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Refusal, Reply } from '../../lib/ports/reply.ts';
import type { Delivery, Receipt, Transport } from '../../lib/ports/transport.ts';
import {
  type Feature,
  type Features,
  makeTransport,
  type TestBroker,
  type TransportMaker,
  type TransportTimes,
} from './contract-subject.ts';

/** A property that every transport must have. */
export interface Law {
  readonly name: string;
  /** The law is skipped if one of these features is missing. */
  readonly needs?: readonly Feature[];
  /** The law is only for transports without this feature. */
  readonly lacks?: Feature;
  /** No other law may run at the same time, because this one disturbs or fills the broker. */
  readonly isExclusive?: boolean;
  readonly run: (context: LawContext) => Promise<void>;
}

/** A new queue for each law, and transports that are closed after it. */
interface LawContext {
  readonly broker: TestBroker;
  readonly features: Features;
  readonly queue: string;
  readonly deadLetterQueue: string;
  /** The name of a queue that does not exist. */
  newName(): string;
  transport(times?: Partial<TransportTimes>): Promise<Transport>;
  breakableTransport(times?: Partial<TransportTimes>): Promise<Transport>;
  readonly never: AbortSignal;
}

const TIMES: TransportTimes = { visibilityMs: 30_000, waitMs: 1_000 };
/** Longer than any law needs: the suite checks behaviour, not speed. */
const TIMEOUT_MS = 60_000;

export async function runLaw(broker: TestBroker, features: Features, law: Law): Promise<void> {
  const transports: Transport[] = [];
  const newName = () => `law-${randomUUID().slice(0, 13)}`;
  const queue = newName();
  const make = async (maker: TransportMaker, times: Partial<TransportTimes> = {}) => {
    const made = await makeTransport(maker, { ...TIMES, ...times });
    transports.push(made);
    return made;
  };
  await broker.createQueue(queue);
  try {
    await law.run({
      broker,
      features,
      queue,
      deadLetterQueue: `${queue}-dlq`,
      newName,
      transport: (times) => make(broker.maker, times),
      breakableTransport: (times) => make(broker.breakableMaker, times),
      never: new AbortController().signal,
    });
  } finally {
    // Some laws have closed their transports already; closing twice is allowed.
    await Promise.all(transports.map((transport) => transport.close()));
  }
}

/** Receives until there are `count` deliveries. */
export async function receiveSome(
  transport: Transport,
  queue: string,
  count: number,
): Promise<readonly Delivery[]> {
  const deliveries: Delivery[] = [];
  const until = Date.now() + TIMEOUT_MS;
  while (deliveries.length < count) {
    if (Date.now() > until)
      throw new Error(`${queue}: ${deliveries.length} of ${count} deliveries within ${TIMEOUT_MS} ms`);
    const most = Math.min(count - deliveries.length, transport.traits.maxBatch);
    deliveries.push(...deliveriesOf(await transport.receive(queue, most, new AbortController().signal)));
  }
  return deliveries;
}

export async function receiveOne(transport: Transport, queue: string): Promise<Delivery> {
  const [delivery] = await receiveSome(transport, queue, 1);
  return delivery as Delivery;
}

/** Expects no deliveries for this time. */
export async function receiveNothing(transport: Transport, queue: string, forMs: number): Promise<void> {
  const until = Date.now() + forMs;
  const most = transport.traits.maxBatch;
  do {
    const deliveries = deliveriesOf(await transport.receive(queue, most, new AbortController().signal));
    expect(
      deliveries.map(({ body }) => body),
      `deliveries of ${queue}`,
    ).toEqual([]);
  } while (Date.now() < until);
}

export function deliveriesOf(receipt: Receipt): readonly Delivery[] {
  if (!receipt.ok) throw new Error(`the receive was refused: ${receipt.problem}`);
  return receipt.deliveries;
}

export async function sendAll(transport: Transport, queue: string, bodies: readonly string[]): Promise<void> {
  const replies = await Promise.all(bodies.map((body) => transport.send(queue, body)));
  expect(replies.filter((reply) => !reply.ok)).toEqual([]);
}

/** Receives until a receive is refused. One that ends before the broker has answered returns no deliveries. */
export async function receiveRefusal(transport: Transport, queue: string): Promise<Refusal> {
  const until = Date.now() + TIMEOUT_MS;
  while (Date.now() < until) {
    const receipt = await transport.receive(queue, 1, new AbortController().signal);
    if (!receipt.ok) return receipt;
    expect(receipt.deliveries).toEqual([]);
  }
  throw new Error(`${queue}: no receive was refused within ${TIMEOUT_MS} ms`);
}

/** Repeats a call until it is accepted: after an outage, a transport may need a while to reconnect. */
export async function untilAccepted(call: () => Promise<Reply>): Promise<void> {
  const until = Date.now() + TIMEOUT_MS;
  for (;;) {
    const reply = await call();
    if (reply.ok) return;
    if (Date.now() > until) throw new Error(`still refused after ${TIMEOUT_MS} ms: ${reply.problem}`);
    await sleep(100);
  }
}

export function textOf({ body }: Delivery): string {
  return typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body);
}

/** A visibility timeout that laws wait for: longer than a busy machine may pause. */
export const HIDDEN_MS = 5_000;

/** Expects no deliveries, even after the visibility timeout of received ones. */
export async function receiveNothingMore(transport: Transport, queue: string): Promise<void> {
  await receiveNothing(
    transport,
    queue,
    (transport.traits.visibilityMs === undefined ? 2_000 : HIDDEN_MS) + 100,
  );
}

/** Both times are from this machine's clock; a broker may truncate fractions of a millisecond. */
export const CLOCK_SLACK_MS = 5;

export const OK = { ok: true } as const;
