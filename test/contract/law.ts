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

/** One thing that holds for every transport. */
export interface Law {
  readonly name: string;
  /** Where one of these is missing, the law is skipped. */
  readonly needs?: readonly Feature[];
  /** It is about the want of this, and is skipped where there is none. */
  readonly lacks?: Feature;
  /** Nothing else may run beside it: it disturbs the broker, or fills it. */
  readonly isExclusive?: boolean;
  readonly run: (stage: LawContext) => Promise<void>;
}

/** What a law acts on: a queue of its own, and transports that are closed after it. */
interface LawContext {
  readonly broker: TestBroker;
  readonly features: Features;
  readonly queue: string;
  readonly deadLetterQueue: string;
  /** The name of a queue that is not there. */
  newName(): string;
  transport(times?: Partial<TransportTimes>): Promise<Transport>;
  breakableTransport(times?: Partial<TransportTimes>): Promise<Transport>;
  readonly never: AbortSignal;
}

const TIMES: TransportTimes = { visibilityMs: 30_000, waitMs: 1_000 };
/** Longer than any law needs: engines on this machine are waited for, not measured. */
const PATIENCE_MS = 60_000;

export async function runLaw(bench: TestBroker, features: Features, law: Law): Promise<void> {
  const transports: Transport[] = [];
  const newName = () => `law-${randomUUID().slice(0, 13)}`;
  const queue = newName();
  const make = async (maker: TransportMaker, times: Partial<TransportTimes> = {}) => {
    const made = await makeTransport(maker, { ...TIMES, ...times });
    transports.push(made);
    return made;
  };
  await bench.createQueue(queue);
  try {
    await law.run({
      broker: bench,
      features,
      queue,
      deadLetterQueue: `${queue}-dlq`,
      newName,
      transport: (times) => make(bench.maker, times),
      breakableTransport: (times) => make(bench.breakableMaker, times),
      never: new AbortController().signal,
    });
  } finally {
    // Closing twice is harmless, and some laws have closed theirs.
    await Promise.all(transports.map((transport) => transport.close()));
  }
}

/** Receives until so many deliveries have come. */
export async function receiveSome(
  transport: Transport,
  queue: string,
  count: number,
): Promise<readonly Delivery[]> {
  const deliveries: Delivery[] = [];
  const until = Date.now() + PATIENCE_MS;
  while (deliveries.length < count) {
    if (Date.now() > until)
      throw new Error(`${queue}: ${deliveries.length} of ${count} deliveries within ${PATIENCE_MS} ms`);
    const most = Math.min(count - deliveries.length, transport.traits.maxBatch);
    deliveries.push(...deliveriesOf(await transport.receive(queue, most, new AbortController().signal)));
  }
  return deliveries;
}

export async function receiveOne(transport: Transport, queue: string): Promise<Delivery> {
  const [delivery] = await receiveSome(transport, queue, 1);
  return delivery as Delivery;
}

/** Nothing comes for so long. */
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

/** Receives until that is refused: a wait that is over before the broker has answered says nothing. */
export async function receiveRefusal(transport: Transport, queue: string): Promise<Refusal> {
  const until = Date.now() + PATIENCE_MS;
  while (Date.now() < until) {
    const receipt = await transport.receive(queue, 1, new AbortController().signal);
    if (!receipt.ok) return receipt;
    expect(receipt.deliveries).toEqual([]);
  }
  throw new Error(`${queue}: no receive was refused within ${PATIENCE_MS} ms`);
}

/** Asks until it is accepted: what was cut off from its broker may take a while to come back to it. */
export async function untilAccepted(ask: () => Promise<Reply>): Promise<void> {
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    const reply = await ask();
    if (reply.ok) return;
    if (Date.now() > until) throw new Error(`still refused after ${PATIENCE_MS} ms: ${reply.problem}`);
    await sleep(100);
  }
}

export function textOf({ body }: Delivery): string {
  return typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body);
}

/** Where a law waits for it to pass: longer than a busy machine may pause in between. */
export const HIDDEN_MS = 5_000;

/** Nothing comes, also after what was received has been hidden for its time. */
export async function receiveNothingMore(transport: Transport, queue: string): Promise<void> {
  await receiveNothing(
    transport,
    queue,
    (transport.traits.visibilityMs === undefined ? 2_000 : HIDDEN_MS) + 100,
  );
}

/** Both clocks are this machine's; a broker may cut fractions of a millisecond off. */
export const CLOCK_SLACK_MS = 5;

export const OK = { ok: true } as const;
