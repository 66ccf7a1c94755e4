/** How many deliveries may wait in this process for a free slot: as many as it can process within a second. */
export interface Prefetch {
  readonly limit: number;
  /** Records how long a call took. */
  recordCall(callMs: number): void;
}

const WINDOW_MS = 1_000;
const WEIGHT_OF_LATEST = 0.2;

/**
 * Starts with a limit of 0 and follows the average duration of calls. Slow handlers get no prefetch, because a delivery
 * that waits here is hidden from every other sidecar. Fast handlers save requests: receiving ten messages costs as much
 * as receiving one.
 */
export function prefetchFor(concurrency: number, maxBatch: number): Prefetch {
  let averageMs: number | undefined;
  return {
    get limit() {
      if (averageMs === undefined) return 0;
      return Math.min(Math.floor((WINDOW_MS * concurrency) / Math.max(averageMs, 1)), 2 * maxBatch);
    },
    recordCall: (callMs) => {
      averageMs = averageMs === undefined ? callMs : averageMs + WEIGHT_OF_LATEST * (callMs - averageMs);
    },
  };
}
