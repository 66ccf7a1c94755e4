import type { Transport } from '../../lib/ports/transport.ts';
import type { Ability, TransportFeatures } from '../../lib/ports/transport-features.ts';

/** A transport that the contract is tried on, and what is known of it beforehand. */
export interface ContractSubject {
  readonly name: string;
  /** Why it cannot be had on this machine; undefined where it can. */
  readonly unavailable?: string;
  readonly features: Features;
  start(): Promise<TestBroker>;
}

/** What its transport can do by itself, and what this engine and this bench add to the gaps. */
export interface Features extends TransportFeatures {
  /** Characters beyond U+FFFF travel as they are. */
  readonly rawAstralCharacters: Ability;
  /** What a queue was made with can be asked for. */
  readonly describesQueues: Ability;
  /** The test can make one entry of a batch fail. */
  readonly failsSingleSends: Ability;
  /** The test can cut it off from its broker. */
  readonly outages: Ability;
  /** Thousands of messages in a queue are no trouble. */
  readonly deepQueues: Ability;
}

export type Feature = keyof Features;

/** A broker that runs, and the ways around the transport that the laws need. */
export interface TestBroker {
  readonly maker: TransportMaker;
  /** Of transports that `failEntries` and `beginOutage` act on, and no others. */
  readonly breakableMaker: TransportMaker;
  /** Deliveries without an ack before the dead-letter queue takes a message. */
  readonly maxReceiveCount: number;
  /** The queue with its dead-letter queue. */
  createQueue(queue: string): Promise<void>;
  /** The queue alone, with whatever the broker gives a queue by itself. */
  createPlainQueue(queue: string): Promise<void>;
  deleteQueue(queue: string): Promise<void>;
  describeQueue(queue: string): Promise<QueueDescription>;
  /** What `ensureQueue` is to make of a queue and its dead-letter queue. */
  plannedQueues(queue: string, visibilityMs: number): Readonly<Record<string, QueueDescription>>;
  /** Sends whose body is chosen fail inside their batch, until the returned function is called. */
  failEntries(isChosen: (body: string) => boolean): () => void;
  /** The broker is out of their reach until the returned function is called. */
  beginOutage(): () => void;
  close(): Promise<void>;
}

export type QueueDescription = Readonly<Record<string, string | number>>;

/** As data, so that a process of its own can make one too: a module that exports `makeTransport`. */
export interface TransportMaker {
  readonly module: string;
  readonly options: Readonly<Record<string, string | number>>;
}

export interface TransportTimes {
  readonly visibilityMs: number;
  /** How long a receive waits for deliveries. */
  readonly waitMs: number;
}

export interface MakerModule {
  makeTransport(options: TransportMaker['options'] & TransportTimes): Transport | Promise<Transport>;
}

export async function makeTransport(maker: TransportMaker, times: TransportTimes): Promise<Transport> {
  const module = (await import(maker.module)) as MakerModule;
  return module.makeTransport({ ...maker.options, ...times });
}
