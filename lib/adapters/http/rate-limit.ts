export interface Rate {
  readonly perSecond: number;
  /** Requests allowed at once after an idle period. */
  readonly burst: number;
}

/** Returns the seconds to wait; 0 if the request is allowed. */
export type TakeToken = (caller: string) => number;

const MAX_CALLERS = 10_000;

/** A token bucket per caller. It limits what this process accepts; other instances count separately. */
export function rateLimit({ perSecond, burst }: Rate, now: () => number): TakeToken {
  const buckets = new Map<string, { tokens: number; atMs: number }>();
  return (caller) => {
    const atMs = now();
    const known = buckets.get(caller) ?? { tokens: burst, atMs };
    const tokens = Math.min(burst, known.tokens + (Math.max(0, atMs - known.atMs) / 1000) * perSecond);
    // Insert last: the first entry is then the one idle for longest, and is evicted first.
    buckets.delete(caller);
    buckets.set(caller, { tokens: Math.max(0, tokens >= 1 ? tokens - 1 : tokens), atMs });
    if (buckets.size > MAX_CALLERS) {
      const [oldest] = buckets.keys();
      if (oldest !== undefined) buckets.delete(oldest);
    }
    return tokens >= 1 ? 0 : Math.ceil((1 - tokens) / perSecond);
  };
}
