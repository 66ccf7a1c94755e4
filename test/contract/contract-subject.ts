import type { Transport } from '../../lib/ports/transport.ts';
import type { Ability, TransportFeatures } from '../../lib/ports/transport-features.ts';

/** A transport for the contract suite, and its known features. */
export interface ContractSubject {
  readonly name: string;
  /** Why it is not available on this machine; undefined if it is. */
  readonly unavailable?: string;
  readonly features: Features;
  start(): Promise<TestBroker>;
}

/** The features of the transport, and what this engine and this test setup support. */
export interface Features extends TransportFeatures {
  /** Characters above U+FFFF arrive unchanged. */
  readonly rawAstralCharacters: Ability;
  /** The attributes of a queue can be read. */
  readonly describesQueues: Ability;
  /** The test can make one entry of a batch fail. */
  readonly failsSingleSends: Ability;
  /** The test can simulate an outage of the broker. */
  readonly outages: Ability;
  /** It stays fast with thousands of messages in a queue. */
  readonly deepQueues: Ability;
}

export type Feature = keyof Features;

/** A running broker, and operations that the laws need besides those of the transport. */
export interface TestBroker {
  readonly maker: TransportMaker;
  /** For transports that `failEntries` and `beginOutage` affect. They affect no others. */
  readonly breakableMaker: TransportMaker;
  /** Deliveries without an ack before a message goes to the dead-letter queue. */
  readonly maxReceiveCount: number;
  /** Creates a queue and its dead-letter queue. */
  createQueue(queue: string): Promise<void>;
  /** Creates a queue with the broker's defaults, without a dead-letter queue. */
  createPlainQueue(queue: string): Promise<void>;
  deleteQueue(queue: string): Promise<void>;
  describeQueue(queue: string): Promise<QueueDescription>;
  /** The expected attributes of the queues that `ensureQueue` creates. */
  plannedQueues(queue: string, visibilityMs: number): Readonly<Record<string, QueueDescription>>;
  /** Lets sends with a chosen body fail within their batch, until the returned function is called. */
  failEntries(isChosen: (body: string) => boolean): () => void;
  /** Makes the broker unreachable until the returned function is called. */
  beginOutage(): () => void;
  close(): Promise<void>;
}

export type QueueDescription = Readonly<Record<string, string | number>>;

/** A module that exports `makeTransport`, and its options. As data, so that a child process can use it too. */
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
