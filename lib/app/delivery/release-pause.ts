/**
 * How long a delivery rests after a refused send. It grows, because each receive counts towards the dead-letter
 * queue: five receives last about twenty minutes, so that an outage of minutes burns none of them in vain.
 */
export function releasePauseMs(receiveCount: number): number {
  return Math.min(15_000 * 4 ** (Math.max(1, receiveCount) - 1), 900_000);
}
