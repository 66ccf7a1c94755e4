/** The time, as a dependency, so that tests can control it. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
  /** Resolves after the given time, or as soon as the signal aborts. Never rejects. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** Random numbers, as a dependency: at least 0, less than 1. */
export type Random = () => number;
