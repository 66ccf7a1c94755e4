import type { Failure } from './failure.ts';

/**
 * What is left to do about a failure:
 * - `open`: nobody has replayed it, or its last replay has not ended yet.
 * - `resolved`: the envelope succeeded in a replay.
 * - `replayed`: it failed again in its last replay. The new failure of the envelope is open instead.
 */
export type FailureState = 'open' | 'resolved' | 'replayed';

export function failureState({ resolved, replays }: Pick<Failure, 'resolved' | 'replays'>): FailureState {
  if (resolved !== undefined) return 'resolved';
  return replays.at(-1)?.end === 'failed' ? 'replayed' : 'open';
}
