/**
 * The pause before the next attempt: random, so that clients that failed together do not return together. Its maximum doubles
 * with each attempt.
 * @param firstMs Maximum of the first pause.
 * @param random At least 0, less than 1.
 */
export function backoffMs(firstMs: number, attempts: number, maxMs: number, random: () => number): number {
  return random() * Math.min(firstMs * 2 ** (attempts - 1), maxMs);
}
