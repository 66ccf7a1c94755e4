export interface Rate {
  readonly perSecond: number;
  /** At once, after a while of silence. */
  readonly burst: number;
}

/** Seconds to wait; 0: go on. */
export type TakeToken = (caller: string) => number;

const MAX_CALLERS = 10_000;

/** A bucket of tokens for each caller, in this process alone: a bound on what one instance takes from one caller. */
export function rateLimit({ perSecond, burst }: Rate, now: () => number): TakeToken {
  const buckets = new Map<string, { tokens: number; atMs: number }>();
  return (caller) => {
    const atMs = now();
    const known = buckets.get(caller) ?? { tokens: burst, atMs };
    const tokens = Math.min(burst, known.tokens + (Math.max(0, atMs - known.atMs) / 1000) * perSecond);
    // Put last: the first is the one that was silent for longest, and forgotten first.
    buckets.delete(caller);
    buckets.set(caller, { tokens: Math.max(0, tokens >= 1 ? tokens - 1 : tokens), atMs });
    if (buckets.size > MAX_CALLERS) {
      const [oldest] = buckets.keys();
      if (oldest !== undefined) buckets.delete(oldest);
    }
    return tokens >= 1 ? 0 : Math.ceil((1 - tokens) / perSecond);
  };
}
