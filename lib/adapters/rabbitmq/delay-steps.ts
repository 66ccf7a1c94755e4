const SHORTEST_MS = 100;
const DIGITS = 2;

/**
 * The next delay that there is a queue for: no sooner than asked, and at most a tenth later. Each one is a queue of
 * its own, because a message that expires behind one that does not has to wait for it; two digits keep them few,
 * whatever jitter adds, and meet what people write.
 */
export function delayStepMs(delayMs: number): number {
  const wanted = Math.max(Math.ceil(delayMs), SHORTEST_MS);
  const step = 10 ** (String(wanted).length - DIGITS);
  return Math.ceil(wanted / step) * step;
}
