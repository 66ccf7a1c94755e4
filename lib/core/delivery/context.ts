import type { DeriveId } from '../envelope/decode.ts';
import type { CountBytes } from '../text/utf8.ts';
import type { Actor, Limits } from './actor.ts';

/** All that a decision may depend on besides what happened. Clock, dice and ids are handed in. */
export interface Context {
  readonly actor: Actor;
  readonly limits: Limits;
  /** Milliseconds since 1970, read after the call. */
  readonly now: number;
  /** At least 0, less than 1. */
  readonly random: number;
  readonly deriveId: DeriveId;
  /** The platform's own way to count, which is much faster; without it, counted here. */
  readonly countBytes?: CountBytes;
}
