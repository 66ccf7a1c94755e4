import type { DeriveId } from '../envelope/decode.ts';
import type { CountBytes } from '../text/utf8.ts';
import type { Actor, Limits } from './actor.ts';

/** Everything that a decision depends on besides the outcome. Time, randomness and ids are passed in. */
export interface Context {
  readonly actor: Actor;
  readonly limits: Limits;
  /** Milliseconds since 1970, read after the call. */
  readonly now: number;
  /** At least 0, less than 1. */
  readonly random: number;
  readonly deriveId: DeriveId;
  /** A faster function of the platform, if it has one. */
  readonly countBytes?: CountBytes;
}
