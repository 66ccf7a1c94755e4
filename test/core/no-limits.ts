import type { Limits } from '../../lib/core/delivery/actor.ts';

/** A transport without limits. */
export const NO_LIMITS: Limits = {
  maxDelayMs: Number.POSITIVE_INFINITY,
  maxBodyBytes: Number.POSITIVE_INFINITY,
};
