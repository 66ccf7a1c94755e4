import { once } from '../../async/once.ts';
import { acquireUnlessAborted, type Semaphore } from '../../async/semaphore.ts';
import type { Delivery } from '../../ports/transport.ts';
import { handleDelivery, type Line } from './handle-delivery.ts';

export interface PushDeps {
  readonly line: Line;
  readonly turns: Semaphore;
  /** For how long whoever pushes waits, less what the last sends need. */
  readonly budgetMs: number;
  /** Aborts when the host is about to end: what has not begun by then goes back. */
  readonly stop: AbortSignal;
  /** A call hung in a runtime that nobody here can kill: the host has to end, once this is settled. */
  readonly onHung: () => void;
}

/** The way it came in. */
export interface PushArrival {
  /** Aborts where nobody waits for the answer any more. */
  readonly gone: AbortSignal;
  /** For how long whoever pushes had waited before it came to here. */
  readonly tookMs: number;
}

export type PushEnd =
  | 'acked'
  /** A send was refused: it has to come again. */
  | 'released'
  /** Its turn did not come in time: nothing was done about it. */
  | 'turned-away';

/**
 * A delivery for which somebody holds a line open. It waits for its turn only as long as a whole call would still fit
 * into the time that is left, because what comes back from there was worked on in vain.
 */
export async function processPush(
  delivery: Delivery,
  { gone, tookMs }: PushArrival,
  desk: PushDeps,
): Promise<PushEnd> {
  const { line, turns, stop, onHung } = desk;
  const { clock, actor, runtime, telemetry } = line;
  const leftMs = desk.budgetMs - tookMs;
  const endsAt = clock.now() + leftMs;
  const { messageId, receiveCount } = delivery;
  telemetry.received(1, 0);
  telemetry.step('received', { messageId, receiveCount });
  const patience = new AbortController();
  const giveUp = AbortSignal.any([stop, gone, patience.signal]);
  const waiting = new AbortController();
  clock.sleep(leftMs - actor.timeoutMs, waiting.signal).then(() => patience.abort());
  const hasTurn = await acquireUnlessAborted(turns, giveUp);
  waiting.abort();
  if (!hasTurn) return 'turned-away';

  const onCallEnded = once((hasHung = false) => {
    // Before the turn goes on: nobody else is to be called in a runtime that has hung.
    if (hasHung && !runtime.restartsItself) onHung();
    turns.release();
  });
  try {
    const { settle } = await handleDelivery(
      delivery,
      { timeLeftMs: endsAt - clock.now(), onCallEnded },
      line,
    );
    telemetry.step('settle', { messageId, settle });
    return settle === 'ack' ? 'acked' : 'released';
  } finally {
    // A bug must not keep the others waiting for a turn that never comes.
    onCallEnded();
  }
}
