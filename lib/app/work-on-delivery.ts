import type { Delivery, Transport } from '../ports/transport.ts';
import { type Handled, handleDelivery, type Line } from './handle-delivery.ts';
import { holdDelivery } from './hold-delivery.ts';
import { releasePauseMs } from './release-pause.ts';
import type { Turns } from './turns.ts';

export interface Desk {
  readonly transport: Transport;
  readonly line: Line;
  readonly turns: Turns;
  readonly stop: AbortSignal;
  /** A call took so long. */
  readonly learn: (callMs: number) => void;
}

/** Waits for the delivery's turn, works on it and settles it; undefined where the end of work came first. */
export async function workOnDelivery(delivery: Delivery, desk: Desk): Promise<Handled | undefined> {
  const { transport, line, turns, stop, learn } = desk;
  const { clock, telemetry } = line;
  const { messageId, receiveCount } = delivery;
  telemetry.step('received', { messageId, receiveCount });
  const hold = holdDelivery(delivery, transport, clock);
  await turns.take();
  await hold.end();
  if (stop.aborted) {
    turns.give();
    await settle(delivery, 0, desk);
    return undefined;
  }
  const beganAt = clock.now();
  const onCallEnded = () => {
    learn(clock.now() - beganAt);
    turns.give();
  };
  const handled = await handleDelivery(delivery, { timeLeftMs: Number.POSITIVE_INFINITY, onCallEnded }, line);
  telemetry.step('settle', { messageId, settle: handled.settle });
  await settle(delivery, handled.settle === 'ack' ? undefined : releasePauseMs(receiveCount), desk);
  return handled;
}

/** Acks, or releases after the pause. A settling that fails is only told: the broker delivers again. */
async function settle(
  delivery: Delivery,
  pauseMs: number | undefined,
  { transport, line }: Desk,
): Promise<void> {
  const reply =
    pauseMs === undefined ? await transport.ack(delivery) : await transport.nack(delivery, pauseMs);
  const { messageId } = delivery;
  const what = pauseMs === undefined ? 'acked' : 'released';
  if (reply.ok) line.telemetry.step(what, { messageId, pauseMs });
  else line.telemetry.trouble('settling failed', { messageId, what, problem: reply.problem });
}
