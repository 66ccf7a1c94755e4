import type { Clock } from '../../ports/clock.ts';
import type { Delivery, Transport } from '../../ports/transport.ts';

/** A delivery that waits for its turn, kept hidden from others meanwhile. */
export interface VisibilityHeartbeat {
  /** Its turn has come: hidden for long enough to be worked on, whatever the wait took. */
  stop(): Promise<void>;
}

/** Past this part of the visibility time, waiting or beginning work extends it. */
const EXTEND_WAITING_AFTER = 1 / 2;
const EXTEND_BEGINNING_AFTER = 1 / 4;
const EXTEND_AGAIN_AFTER = 1 / 8;

export function startVisibilityHeartbeat(
  delivery: Delivery,
  transport: Transport,
  clock: Clock,
): VisibilityHeartbeat {
  const { visibilityMs } = transport.traits;
  if (visibilityMs === undefined) return { stop: () => Promise.resolve() };
  const ending = new AbortController();
  let hiddenSince = clock.now();
  const extend = async () => {
    const at = clock.now();
    const { ok } = await transport.extend(delivery);
    if (ok) hiddenSince = at;
    return ok;
  };
  const waiting = (async () => {
    for (let part = EXTEND_WAITING_AFTER; ; ) {
      await clock.sleep(visibilityMs * part, ending.signal);
      if (ending.signal.aborted) return;
      part = (await extend()) ? EXTEND_WAITING_AFTER : EXTEND_AGAIN_AFTER;
    }
  })();
  return {
    stop: async () => {
      ending.abort();
      await waiting;
      if (clock.now() - hiddenSince > visibilityMs * EXTEND_BEGINNING_AFTER) await extend();
    },
  };
}
