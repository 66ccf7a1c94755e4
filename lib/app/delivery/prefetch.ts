/** How many deliveries may wait here for their turn: what can be worked off within a second, and no more. */
export interface Prefetch {
  readonly most: number;
  /** A call took so long. */
  learn(callMs: number): void;
}

const WINDOW_MS = 1_000;
const WEIGHT_OF_LAST = 0.2;

/**
 * Slow handlers get none: what waits here is hidden from every other sidecar. Fast ones save requests, because a
 * receive that brings ten costs as much as one that brings one.
 */
export function prefetchFor(concurrency: number, maxBatch: number): Prefetch {
  let averageMs: number | undefined;
  return {
    get most() {
      if (averageMs === undefined) return 0;
      return Math.min(Math.floor((WINDOW_MS * concurrency) / Math.max(averageMs, 1)), 2 * maxBatch);
    },
    learn: (callMs) => {
      averageMs = averageMs === undefined ? callMs : averageMs + WEIGHT_OF_LAST * (callMs - averageMs);
    },
  };
}
