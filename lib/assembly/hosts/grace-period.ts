import { systemClock } from '../../adapters/system/system.ts';

/** What the last sends of calls that were interrupted may take. */
export const LAST_SENDS_MS = 2_000;

/** Resolves when the grace period is over. Calls that take too long are interrupted in time for their last sends. */
export async function graceOver(graceMs: number, interrupt: () => void, ended: AbortSignal): Promise<void> {
  const lastSendsMs = Math.min(LAST_SENDS_MS, graceMs / 2);
  await systemClock.sleep(graceMs - lastSendsMs, ended);
  if (!ended.aborted) interrupt();
  await systemClock.sleep(lastSendsMs, ended);
}

export function untilAborted(...signals: readonly AbortSignal[]): Promise<void> {
  const any = AbortSignal.any([...signals]);
  return new Promise((resolve) => {
    if (any.aborted) resolve();
    else any.addEventListener('abort', () => resolve(), { once: true });
  });
}
