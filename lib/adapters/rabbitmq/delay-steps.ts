const MIN_MS = 100;

/**
 * Rounds a delay up to the next step, by at most a tenth. Each step has its own queue, because messages expire in the order
 * of the queue: a short delay behind a long one would wait for it. Steps of 5 to 10 % keep the number of queues small for any
 * jitter, and most configured delays are exactly a step.
 */
export function delayStepMs(delayMs: number): number {
  const delay = Math.max(Math.ceil(delayMs), MIN_MS);
  const unit = 10 ** (String(delay).length - 2);
  const units = Math.ceil(delay / unit);
  const step = stepIn(units);
  return Math.ceil(units / step) * step * unit;
}

/** The step for a two-digit number. */
function stepIn(units: number): number {
  if (units <= 20) return 1;
  return units <= 50 ? 2 : 5;
}
