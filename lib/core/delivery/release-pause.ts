/**
 * How long a delivery stays hidden after a refused send. The pause grows with every receive, because each receive counts
 * towards the dead-letter queue: five receives take about twenty minutes, so an outage of a few minutes does not
 * dead-letter anything.
 */
export function releasePauseMs(receiveCount: number): number {
  return Math.min(15_000 * 4 ** (Math.max(1, receiveCount) - 1), 900_000);
}
