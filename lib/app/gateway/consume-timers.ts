import { releasePauseMs } from '../../core/delivery/release-pause.ts';
import type { Delivery, Transport } from '../../ports/transport.ts';
import { handleTimer, type TimerDeps } from './timer.ts';

const MAX_BATCH = 10;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

/** Consumes the timer queue until `stop` is aborted: for a long-running gateway, where no function is invoked with it. */
export async function consumeTimers(
  queue: string,
  transport: Transport,
  deps: TimerDeps,
  stop: AbortSignal,
): Promise<void> {
  const { clock, telemetry } = deps;
  let pauseMs = FIRST_PAUSE_MS;

  async function handle(delivery: Delivery): Promise<void> {
    const { body, messageId, receiveCount } = delivery;
    const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
    const isDone = await handleTimer(text, deps);
    const reply = isDone
      ? await transport.ack(delivery)
      : await transport.nack(delivery, releasePauseMs(receiveCount));
    if (!reply.ok)
      telemetry.warn('a timer message could not be settled', { messageId, problem: reply.problem });
  }

  while (!stop.aborted) {
    const receipt = await transport.receive(queue, Math.min(MAX_BATCH, transport.traits.maxBatch), stop);
    if (receipt.ok) {
      pauseMs = FIRST_PAUSE_MS;
      await Promise.all(receipt.deliveries.map(handle));
      continue;
    }
    telemetry.warn('receiving timers failed', { queue, problem: receipt.problem });
    await clock.sleep(pauseMs, stop);
    pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
  }
}
