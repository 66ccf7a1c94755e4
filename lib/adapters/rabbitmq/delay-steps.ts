const MIN_MS = 100;

/**
 * The next delay that there is a queue for: no sooner than asked, and at most a tenth later. Each one is a queue of
 * its own, because a message that expires behind one that does not has to wait for it. In steps of a twentieth to a
 * tenth they are few, whatever jitter adds, and most of what people write is met.
 */
export function delayStepMs(delayMs: number): number {
  const wanted = Math.max(Math.ceil(delayMs), MIN_MS);
  const unit = 10 ** (String(wanted).length - 2);
  const units = Math.ceil(wanted / unit);
  const step = stepIn(units);
  return Math.ceil(units / step) * step * unit;
}

/** Of numbers with two digits. */
function stepIn(units: number): number {
  if (units <= 20) return 1;
  return units <= 50 ? 2 : 5;
}
