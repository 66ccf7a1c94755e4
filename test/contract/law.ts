import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Delivery, Receipt, Transport } from '../../lib/ports/transport.ts';
import {
  type Bench,
  type Feature,
  makeTransport,
  type TransportMaker,
  type TransportTimes,
} from './contract-subject.ts';

/** One thing that holds for every transport. */
export interface Law {
  readonly name: string;
  /** Where one of these is missing, the law is skipped. */
  readonly needs?: readonly Feature[];
  /** Nothing else may run beside it: it disturbs the broker, or fills it. */
  readonly isAlone?: boolean;
  readonly run: (stage: Stage) => Promise<void>;
}

/** What a law acts on: a queue of its own, and transports that are closed after it. */
export interface Stage {
  readonly bench: Bench;
  readonly queue: string;
  readonly deadLetterQueue: string;
  /** The name of a queue that is not there. */
  newName(): string;
  transport(times?: Partial<TransportTimes>): Promise<Transport>;
  breakableTransport(): Promise<Transport>;
  readonly never: AbortSignal;
}

const TIMES: TransportTimes = { visibilityMs: 30_000, waitMs: 1_000 };
/** Longer than any law needs: engines on this machine are waited for, not measured. */
const PATIENCE_MS = 60_000;

export async function onStage(bench: Bench, law: Law): Promise<void> {
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
      bench,
      queue,
      deadLetterQueue: `${queue}-dlq`,
      newName,
      transport: (times) => make(bench.maker, times),
      breakableTransport: () => make(bench.breakableMaker),
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
  do {
    const deliveries = deliveriesOf(await transport.receive(queue, 10, new AbortController().signal));
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

export function textOf({ body }: Delivery): string {
  return typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body);
}

export const OK = { ok: true } as const;
