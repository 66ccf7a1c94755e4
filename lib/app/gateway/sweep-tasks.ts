import type { GatewayDeps, SweepTimer } from './gateway-deps.ts';

/** What one message of a timer can expire before its own time is over. The next one continues. */
const MAX_PER_SWEEP = 500;
const AT_ONCE = 10;

/** Whether there are more overdue tasks than one sweep expires. */
export interface Swept {
  readonly hasMore: boolean;
}

/**
 * Expires the overdue tasks that share a timer. Every instance of the gateway arms such timers, and one of them is
 * enough: the first one that fires claims the search. Rejects if the store does not answer; the timer must then fire
 * again.
 */
export async function sweepTasks(
  { id, owner, fromMs, toMs, timeoutMs }: SweepTimer,
  { tasks, clock, deriveId }: GatewayDeps,
  expire: (taskId: string) => Promise<void>,
): Promise<Swept> {
  const now = clock.now();
  const key = deriveId('sweep', owner, String(fromMs), String(toMs), String(timeoutMs));
  const claimed = await tasks.claimKey(key, { taskId: id, digest: 'sweep', atMs: now });
  if (!claimed.ok) throw new Error(claimed.problem);
  if (!claimed.isFirst && claimed.claim.taskId !== id) return { hasMore: false };
  const found = await tasks.overdue(owner, { fromMs, toMs }, now, MAX_PER_SWEEP);
  if (!found.ok) throw new Error(found.problem);
  const left = [...found.taskIds];
  const worker = async () => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) await expire(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { hasMore: found.taskIds.length === MAX_PER_SWEEP };
}
