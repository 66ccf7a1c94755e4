/** Time, handed in. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after so long, or at once when the signal aborts. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** Chance, handed in: at least 0, less than 1. */
export type Random = () => number;
