/** The time as the service sees it. It refuses signatures of another time. */
export interface ServiceTime {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
  /**
   * Takes the time from a refusal. Returns whether another signature can help, because the refused one had the wrong time.
   * @param signedAtMs What `now()` returned for it.
   */
  correct(code: string, dateHeader: unknown, signedAtMs: number): boolean;
}

/** The errors that a wrong clock causes. Other mistakes cause some of them too. */
const CLOCK_ERRORS = new Set([
  'AccessDeniedException',
  'AuthFailure',
  'InvalidSignatureException',
  'RequestExpired',
  'RequestInTheFuture',
  'RequestTimeTooSkewed',
  'SignatureDoesNotMatch',
]);

/** Services accept a difference of five minutes. */
const MAX_SKEW_MS = 240_000;

/**
 * Only refusals correct the clock. Other answers could be read much later than they arrived, because a function was frozen in
 * between.
 */
export function serviceTime(now: () => number): ServiceTime {
  let offsetMs = 0;
  return {
    now: () => now() + offsetMs,
    correct: (code, dateHeader, signedAtMs) => {
      if (!CLOCK_ERRORS.has(code) || typeof dateHeader !== 'string') return false;
      const serverMs = Date.parse(dateHeader);
      // Not the current offset: another request may have corrected it since.
      const isSkewed = Math.abs(serverMs - signedAtMs) >= MAX_SKEW_MS;
      if (isSkewed) offsetMs = serverMs - now();
      return isSkewed;
    },
  };
}
