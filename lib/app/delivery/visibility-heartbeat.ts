import type { Clock } from '../../ports/clock.ts';
import type { Delivery, Transport } from '../../ports/transport.ts';

/** Keeps a delivery hidden from other consumers while it waits for a free slot. */
export interface VisibilityHeartbeat {
  /** Ends the heartbeat. Afterwards the delivery is hidden for long enough to process it. */
  stop(): Promise<void>;
}

/** The fractions of the visibility timeout after which it is extended: while waiting, … */
const EXTEND_WAITING_AFTER = 1 / 2;
/** … when processing starts, … */
const EXTEND_AT_START_AFTER = 1 / 4;
/** … and after an extension failed. */
const RETRY_EXTEND_AFTER = 1 / 8;

/** Without a reason, each delivery would create an exception with a stack trace. */
const STOPPED = 'stopped';

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
      part = (await extend()) ? EXTEND_WAITING_AFTER : RETRY_EXTEND_AFTER;
    }
  })();
  return {
    stop: async () => {
      ending.abort(STOPPED);
      await waiting;
      if (clock.now() - hiddenSince > visibilityMs * EXTEND_AT_START_AFTER) await extend();
    },
  };
}
