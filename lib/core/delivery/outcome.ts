import type { Call, EndActorCall, Rejected } from './admit.ts';
import type { Answer } from './answer.ts';

/** How a call ended. */
export type CallResult =
  | Answer
  /** No answer within the call's timeout; the runtime was killed. */
  | { readonly kind: 'timeout' }
  | {
      /** The runtime was killed because of another call, or its host is about to end. */
      readonly kind: 'interrupted';
      /** The runtime did not start this call, and the host goes on: the delivery can be admitted again. */
      readonly isUnstarted?: true;
    };

/** What happened to a delivery, before anything is decided. */
export type Outcome =
  | Rejected
  | { readonly kind: 'called'; readonly call: Call | EndActorCall; readonly end: CallResult };
