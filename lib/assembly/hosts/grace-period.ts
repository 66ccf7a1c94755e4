import { systemClock } from '../../adapters/system/system.ts';
import { untilAborted } from '../../async/until-aborted.ts';

/** How long the last sends of interrupted calls may take. */
export const LAST_SENDS_MS = 2_000;

export interface GracePeriod {
  readonly graceMs: number;
  /** Its abort starts the grace period. */
  readonly stop: AbortSignal;
  /** Asks the handlers of the calls in flight to end early. Called after half of the period. */
  readonly cancel: () => void;
  /** Interrupts the calls in flight. Called shortly before the end, to leave time for their last sends. */
  readonly interrupt: () => void;
}

/** The result of `work`, or `'over'` if it does not finish within the grace period. */
export async function withinGracePeriod<T>(work: Promise<T>, period: GracePeriod): Promise<T | 'over'> {
  const finished = new AbortController();
  try {
    return await Promise.race([work, untilOver(period, finished.signal)]);
  } finally {
    finished.abort();
  }
}

async function untilOver(
  { graceMs, stop, cancel, interrupt }: GracePeriod,
  finished: AbortSignal,
): Promise<'over'> {
  await untilAborted(stop, finished);
  const lastSendsMs = Math.min(LAST_SENDS_MS, graceMs / 2);
  await systemClock.sleep((graceMs - lastSendsMs) / 2, finished);
  if (!finished.aborted) cancel();
  await systemClock.sleep((graceMs - lastSendsMs) / 2, finished);
  if (!finished.aborted) interrupt();
  await systemClock.sleep(lastSendsMs, finished);
  return 'over';
}

/** Returns what is left of the grace period, or undefined before `stop` aborts. */
export function graceLeft(graceMs: number, stop: AbortSignal): () => number | undefined {
  let stoppedAt = stop.aborted ? systemClock.now() : undefined;
  stop.addEventListener('abort', () => {
    stoppedAt = systemClock.now();
  });
  return () => (stoppedAt === undefined ? undefined : Math.max(0, stoppedAt + graceMs - systemClock.now()));
}
