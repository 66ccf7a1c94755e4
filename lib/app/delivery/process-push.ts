import { once } from '../../async/once.ts';
import { acquireUnlessAborted, type Semaphore } from '../../async/semaphore.ts';
import type { Delivery } from '../../ports/transport.ts';
import { type DeliveryLine, handleDelivery } from './handle-delivery.ts';

export interface PushDeps {
  readonly line: DeliveryLine;
  /** Limits how many deliveries are in a call at the same time. */
  readonly slots: Semaphore;
  /** How long the broker waits for the answer to a push, minus the time that the last sends need. */
  readonly budgetMs: number;
  /** Aborts when the host is about to end. Deliveries that still wait for a slot are then rejected. */
  readonly stop: AbortSignal;
  /** A call hung in a runtime that this process cannot restart: the host has to end after settling this delivery. */
  readonly onHung: () => void;
}

/** How the push arrived. */
export interface PushArrival {
  /** Aborts when the broker closes the connection and no longer waits for the answer. */
  readonly disconnected: AbortSignal;
  /** How long the broker had already waited when the push reached this function. */
  readonly waitedMs: number;
}

export type PushResult =
  | 'acked'
  /** A send was refused: the broker has to redeliver. */
  | 'released'
  /** There was no free slot in time: nothing was done, and the broker has to redeliver. */
  | 'no-free-slot';

/**
 * Processes a delivery that a broker pushes as an HTTP request. It waits for a free slot only while the remaining time
 * is enough for a whole call: if the broker stops waiting during a call, it redelivers and the call's work is lost.
 */
export async function processPush(
  delivery: Delivery,
  { disconnected, waitedMs }: PushArrival,
  deps: PushDeps,
): Promise<PushResult> {
  const { line, slots, stop, onHung } = deps;
  const { clock, actor, runtime, telemetry } = line;
  const leftMs = deps.budgetMs - waitedMs;
  const endsAt = clock.now() + leftMs;
  const { messageId, receiveCount } = delivery;
  telemetry.received(1, 0);
  telemetry.step('received', { messageId, receiveCount });
  const tooLate = new AbortController();
  const giveUp = AbortSignal.any([stop, disconnected, tooLate.signal]);
  const waiting = new AbortController();
  clock.sleep(leftMs - actor.timeoutMs, waiting.signal).then(() => tooLate.abort());
  const hasSlot = await acquireUnlessAborted(slots, giveUp);
  waiting.abort();
  if (!hasSlot) return 'no-free-slot';

  const onCallEnded = once((hasHung = false) => {
    // Before the slot is free: no other delivery may call a runtime that has hung.
    if (hasHung && !runtime.restartsItself) onHung();
    slots.release();
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
    // Also after a bug: otherwise the next delivery would wait for this slot forever.
    onCallEnded();
  }
}
