import type { Clock } from '../../ports/clock.ts';
import type { Runtime } from '../../ports/runtime.ts';

const FIRST_PROBE_PAUSE_MS = 10;
const MAX_PROBE_PAUSE_MS = 250;

/** Probes the runtime until it answers. False if `over` is aborted before. */
export async function untilAnswering(client: Runtime, clock: Clock, over: AbortSignal): Promise<boolean> {
  for (
    let pauseMs = FIRST_PROBE_PAUSE_MS;
    !over.aborted;
    pauseMs = Math.min(pauseMs * 2, MAX_PROBE_PAUSE_MS)
  ) {
    if ((await client.problem()) === undefined) return !over.aborted;
    await clock.sleep(pauseMs, over);
  }
  return false;
}
