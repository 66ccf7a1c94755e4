import type { Limits } from '../core/delivery/actor.ts';

/** What it can do, or why not: a gap is data, for the docs, and for the contract, which skips by it. */
export type Ability = 'yes' | { readonly no: string };

/** What users can count on with a transport, whatever engine speaks it. */
export interface TransportFeatures {
  /** A send can be told to arrive later. */
  readonly delays: Ability;
  /** A delivery that nobody settles comes again by itself after a while. */
  readonly hidesForATime: Ability;
  readonly countsReceives: Ability;
  /** What was released too often ends in the dead-letter queue, which x-dlq reads. */
  readonly deadLetters: Ability;
  /** A send of more than it takes is refused, not cut or passed. */
  readonly limitsBodies: Ability;
  /** Sends made at about the same time leave in one request. */
  readonly batchesSends: Ability;
  /** What was received over a connection that broke can still be settled over the next. */
  readonly settlesAfterReconnect: Ability;
  /** A queue that is not there can be told from other trouble. */
  readonly tellsMissingQueues: Ability;
  readonly createsQueues: Ability;
}

/** A transport as the docs tell of it. */
export interface TransportRecord {
  readonly name: string;
  readonly limits: Limits & {
    /** How many sends one request takes; 1 where each leaves by itself. */
    readonly maxBatch: number;
    /** The largest body of a send with a delay, where that is another. */
    readonly maxDelayedBodyBytes?: number;
  };
  readonly features: TransportFeatures;
}
