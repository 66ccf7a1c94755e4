import type { Delivery, Transport } from '../../ports/transport.ts';
import { releasePauseMs } from '../delivery/release-pause.ts';
import { handleTimer, type TimerDeps } from './timer.ts';

const AT_ONCE = 10;
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

/** A gateway that lives long works its timers itself, until told to stop: where no function is invoked with them. */
export async function consumeTimers(
  queue: string,
  transport: Transport,
  deps: TimerDeps,
  stop: AbortSignal,
): Promise<void> {
  const { clock, telemetry } = deps;
  let pauseMs = FIRST_PAUSE_MS;

  async function work(delivery: Delivery): Promise<void> {
    const { body, messageId, receiveCount } = delivery;
    const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
    const isDone = await handleTimer(text, deps);
    const reply = isDone
      ? await transport.ack(delivery)
      : await transport.nack(delivery, releasePauseMs(receiveCount));
    if (!reply.ok) telemetry.warn('settling a timer failed', { messageId, problem: reply.problem });
  }

  while (!stop.aborted) {
    const receipt = await transport.receive(queue, Math.min(AT_ONCE, transport.traits.maxBatch), stop);
    if (receipt.ok) {
      pauseMs = FIRST_PAUSE_MS;
      await Promise.all(receipt.deliveries.map(work));
      continue;
    }
    telemetry.warn('timers cannot be received', { queue, problem: receipt.problem });
    await clock.sleep(pauseMs, stop);
    pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS);
  }
}
