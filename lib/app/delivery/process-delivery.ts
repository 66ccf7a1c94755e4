import { once } from '../../async/once.ts';
import { acquireUnlessAborted, type Semaphore } from '../../async/semaphore.ts';
import type { Delivery, Transport } from '../../ports/transport.ts';
import { handleDelivery, type Line } from './handle-delivery.ts';
import { releasePauseMs } from './release-pause.ts';
import { startVisibilityHeartbeat } from './visibility-heartbeat.ts';

export interface DeliveryDeps {
  readonly transport: Transport;
  readonly line: Line;
  readonly turns: Semaphore;
  readonly stop: AbortSignal;
  /** A call took so long. */
  readonly learn: (callMs: number) => void;
  /** A call hung in a runtime that nobody here can kill. */
  readonly onHung: () => void;
  /** Something was thrown that nobody expected. */
  readonly onBug: (thrown: unknown) => void;
}

/** Waits for the delivery's turn, works on it and settles it; where the end of work comes first, gives it back. */
export async function processDelivery(delivery: Delivery, desk: DeliveryDeps): Promise<void> {
  const { transport, line } = desk;
  const { clock, telemetry } = line;
  const { messageId, receiveCount } = delivery;
  telemetry.step('received', { messageId, receiveCount });
  const hold = startVisibilityHeartbeat(delivery, transport, clock);
  if (!(await comesToItsTurn(desk))) {
    await hold.stop();
    await settle(delivery, 0, desk);
    return;
  }
  const endTurn = turnEnd(desk);
  try {
    await hold.stop();
    const hosting = { timeLeftMs: Number.POSITIVE_INFINITY, onCallEnded: endTurn };
    const handled = await handleDelivery(delivery, hosting, line);
    telemetry.step('settle', { messageId, settle: handled.settle });
    await settle(delivery, handled.settle === 'ack' ? undefined : releasePauseMs(receiveCount), desk);
  } catch (thrown) {
    desk.onBug(thrown);
  } finally {
    // A bug must not keep the others waiting for a turn that never comes.
    endTurn();
  }
}

/**
 * False where the end came first. A runtime that is being started again has no time of a call's: one that loads a model
 * for minutes would fail everything that waits for it.
 */
async function comesToItsTurn({ line, turns, stop }: DeliveryDeps): Promise<boolean> {
  if (!(await acquireUnlessAborted(turns, stop))) return false;
  await line.runtime.untilReady?.(stop);
  if (!stop.aborted) return true;
  turns.release();
  return false;
}

/** A turn that ends once, whoever ends it first. */
function turnEnd({ line, turns, learn, onHung }: DeliveryDeps): (hasHung?: boolean) => void {
  const { clock, runtime } = line;
  const beganAt = clock.now();
  return once((hasHung = false) => {
    learn(clock.now() - beganAt);
    // Before the turn goes on: nobody else is to be called in a runtime that has hung.
    if (hasHung && !runtime.restartsItself) onHung();
    turns.release();
  });
}

/** Acks, or releases after the pause. A settling that fails is only told: the broker delivers again. */
async function settle(
  delivery: Delivery,
  pauseMs: number | undefined,
  { transport, line }: DeliveryDeps,
): Promise<void> {
  const reply =
    pauseMs === undefined ? await transport.ack(delivery) : await transport.nack(delivery, pauseMs);
  const { messageId } = delivery;
  const what = pauseMs === undefined ? 'acked' : 'released';
  if (reply.ok) line.telemetry.step(what, { messageId, pauseMs });
  else line.telemetry.warn('settling failed', { messageId, what, problem: reply.problem });
}
