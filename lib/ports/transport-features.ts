import type { Limits } from '../core/delivery/actor.ts';

/** Whether a transport supports a feature, or the reason why not, which the documentation and the contract suite show. */
export type Ability = 'yes' | { readonly no: string };

/** What users can rely on with a transport, on any broker that implements it. */
export interface TransportFeatures {
  /** A send can be delayed. Retries with a delay need it. */
  readonly delays: Ability;
  /** A delivery that is not settled is delivered again after its visibility timeout. */
  readonly redeliversAfterTimeout: Ability;
  /** The broker counts how often it delivers a message. */
  readonly countsReceives: Ability;
  /** A message that was released too often moves to the dead-letter queue, which x-dlq drains. */
  readonly deadLetters: Ability;
  /** A body over the size limit is refused, not truncated. */
  readonly refusesLargeBodies: Ability;
  /** Sends made at about the same time share one request. */
  readonly batchesSends: Ability;
  /** A delivery that was received before a reconnect can be settled after it. */
  readonly settlesAfterReconnect: Ability;
  /** Refusals distinguish a missing queue from other failures (`isQueueMissing`). */
  readonly reportsMissingQueues: Ability;
  /** `ensureQueue` creates queues and their dead-letter queues. */
  readonly createsQueues: Ability;
}

/** A transport as the documentation describes it. */
export interface TransportRecord {
  readonly name: string;
  readonly limits: Limits & {
    /** Most sends per request; 1 if every send is a request. */
    readonly maxBatch: number;
    /** The largest body of a delayed send. @default the same as `maxBodyBytes` */
    readonly maxDelayedBodyBytes?: number;
  };
  readonly features: TransportFeatures;
}
