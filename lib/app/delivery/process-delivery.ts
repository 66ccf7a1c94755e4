import { once } from '../../async/once.ts';
import { acquireUnlessAborted, type Semaphore } from '../../async/semaphore.ts';
import { releasePauseMs } from '../../core/delivery/release-pause.ts';
import type { Delivery, Transport } from '../../ports/transport.ts';
import { type DeliveryLine, handleDelivery } from './handle-delivery.ts';
import { startVisibilityHeartbeat } from './visibility-heartbeat.ts';

export interface DeliveryDeps {
  readonly transport: Transport;
  readonly line: DeliveryLine;
  /** Limits how many deliveries are in a call at the same time. */
  readonly slots: Semaphore;
  readonly stop: AbortSignal;
  /** Called with the duration of each call. */
  readonly onCallMs: (callMs: number) => void;
  /** A call hung in a runtime that this process did not start and cannot restart. */
  readonly onHung: () => void;
  /** Processing threw an error, which is a bug. */
  readonly onBug: (thrown: unknown) => void;
}

/** Waits for a free slot, processes the delivery and settles it. Releases it at once if `stop` aborts before that. */
export async function processDelivery(delivery: Delivery, deps: DeliveryDeps): Promise<void> {
  const { transport, line } = deps;
  const { clock, telemetry } = line;
  const { messageId, receiveCount } = delivery;
  telemetry.step('received', { messageId, receiveCount });
  const heartbeat = startVisibilityHeartbeat(delivery, transport, clock);
  if (!(await acquireSlot(deps))) {
    await heartbeat.stop();
    await settle(delivery, 0, deps);
    return;
  }
  const releaseSlot = slotRelease(deps);
  try {
    await heartbeat.stop();
    const host = { timeLeftMs: Number.POSITIVE_INFINITY, onCallEnded: releaseSlot };
    const result = await handleDelivery(delivery, host, line);
    telemetry.step('settle', { messageId, settle: result.settle });
    await settle(delivery, result.settle === 'ack' ? undefined : releasePauseMs(receiveCount), deps);
  } catch (thrown) {
    deps.onBug(thrown);
  } finally {
    // Also after a bug: otherwise the next delivery would wait for this slot forever.
    releaseSlot();
  }
}

/**
 * Waits for a free slot and then until the runtime is ready. False if `stop` aborts first. Waiting for a runtime that
 * restarts does not count towards a call's timeout: a handler that loads a model for minutes would otherwise fail every
 * delivery that waits for it.
 */
async function acquireSlot({ line, slots, stop }: DeliveryDeps): Promise<boolean> {
  if (!(await acquireUnlessAborted(slots, stop))) return false;
  await line.runtime.untilReady?.(stop);
  if (!stop.aborted) return true;
  slots.release();
  return false;
}

/** Releases the slot once: at the end of the call, or at the end of processing if there was none. */
function slotRelease({ line, slots, onCallMs, onHung }: DeliveryDeps): (hasHung?: boolean) => void {
  const { clock, runtime } = line;
  const startedAt = clock.now();
  return once((hasHung = false) => {
    onCallMs(clock.now() - startedAt);
    // Before the slot is free: no other delivery may call a runtime that has hung.
    if (hasHung && !runtime.restartsItself) onHung();
    slots.release();
  });
}

/** Acknowledges, or releases after the pause. Only logs a failure, because the broker then redelivers. */
async function settle(
  delivery: Delivery,
  pauseMs: number | undefined,
  { transport, line }: DeliveryDeps,
): Promise<void> {
  const reply =
    pauseMs === undefined ? await transport.ack(delivery) : await transport.nack(delivery, pauseMs);
  const { messageId } = delivery;
  const isAck = pauseMs === undefined;
  if (reply.ok) line.telemetry.step(isAck ? 'acked' : 'released', { messageId, pauseMs });
  else
    line.telemetry.warn(`a delivery could not be ${isAck ? 'acknowledged' : 'released'}`, {
      messageId,
      problem: reply.problem,
    });
}
