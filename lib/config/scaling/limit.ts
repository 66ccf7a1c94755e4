import type { Workload } from './workload.ts';

/** A resource that grows with the rate, and where it ends. */
export interface Limit {
  /** For example `copies of score`. */
  readonly resource: string;
  /** The actor that has this limit. Undefined: all of them share it. */
  readonly actor?: string;
  readonly unit: string;
  /** What the workload needs. */
  readonly needed: number;
  readonly limit: number;
  /** The rate of envelopes at which the limit is reached. */
  readonly maxRate: number;
  /** The limit after everything that can be set was set. The same as `limit` if nothing can be. */
  readonly raisableTo: number;
  /** What to do when the workload needs more than the limit. */
  readonly advice: string;
}

/** Needed for headroom: a limit that is exactly enough has no room for bursts. */
const HEADROOM = 1.3;

/** What to set for a need, with some room above it. */
export function withHeadroom(needed: number): number {
  return Math.ceil(needed * HEADROOM);
}

/** A limit from what a single envelope per second needs. */
export function limitOf(
  { ratePerSecond }: Workload,
  perEnvelope: number,
  rest: Pick<Limit, 'resource' | 'actor' | 'unit' | 'limit'> & {
    readonly raisableTo?: number;
    readonly advice: (toSet: number) => string;
  },
): Limit {
  const { limit, raisableTo = limit, advice } = rest;
  const needed = perEnvelope * ratePerSecond;
  return {
    ...rest,
    needed,
    raisableTo,
    maxRate: perEnvelope === 0 ? Number.POSITIVE_INFINITY : limit / perEnvelope,
    advice: advice(Math.min(withHeadroom(needed), raisableTo)),
  };
}
