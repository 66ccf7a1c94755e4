import { errorText } from '../../core/text/error-text.ts';
import { isFields } from '../../core/text/fields.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Reply } from '../../ports/reply.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import type { Transport } from '../../ports/transport.ts';
import type { Gateway } from './gateway.ts';
import type { Timer } from './gateway-deps.ts';

export interface TimerDeps {
  readonly gateway: Pick<Gateway, 'expire'>;
  readonly arm: (timer: Timer) => Promise<Reply>;
  readonly clock: Clock;
  readonly telemetry: Pick<Telemetry, 'warn'>;
}

/** A timer is a delayed message: it outlives whoever set it. What is longer than a delay may be is chained. */
export function armTimerOn(
  transport: Pick<Transport, 'sendWithDelay' | 'traits'>,
  queue: string,
  clock: Clock,
): (timer: Timer) => Promise<Reply> {
  return async (timer) => {
    const leftMs = Math.max(0, timer.dueMs - clock.now());
    // It would come back at once, again and again.
    if (leftMs > 0 && transport.traits.maxDelayMs === 0) return { ok: false, problem: NO_DELAYS };
    return transport.sendWithDelay(queue, textOf(timer), Math.min(leftMs, transport.traits.maxDelayMs));
  };
}

const NO_DELAYS =
  'a flow with a timeout needs a transport that delays: its backstop is a delayed message; on RabbitMQ set ASYA_RABBITMQ_DELAY=ttl';

/** After it fired in vain, and for how long: then it is not the store that is down. */
const RETRY_AFTER_MS = 60_000;
const GIVE_UP_AFTER_MS = 86_400_000;

/**
 * At least once, and any number of times: false where it has to come again. A store that is down for longer than a few
 * receives must not bring a timer to the dead-letter queue, where it would fire no more: it is set again instead.
 */
export async function handleTimer(body: string, deps: TimerDeps): Promise<boolean> {
  const { gateway, clock, telemetry } = deps;
  const timer = timerFromText(body);
  if (timer === undefined) {
    telemetry.warn('a timer cannot be read; its dead-letter queue will take it', {});
    return false;
  }
  if (timer.dueMs > clock.now()) return reschedule(timer, deps);
  try {
    await gateway.expire(timer.task);
    return true;
  } catch (error) {
    const problem = errorText(error);
    telemetry.warn('a task could not be expired; its timer comes again', { task: timer.task, problem });
    const now = clock.now();
    const { failedMs = now } = timer;
    if (now - failedMs > GIVE_UP_AFTER_MS) return false;
    return reschedule({ ...timer, dueMs: now + RETRY_AFTER_MS, failedMs }, deps);
  }
}

async function reschedule(timer: Timer, { arm, telemetry }: TimerDeps): Promise<boolean> {
  const reply = await arm(timer);
  if (!reply.ok)
    telemetry.warn('a timer could not be set again', { task: timer.task, problem: reply.problem });
  return reply.ok;
}

function textOf({ task, dueMs, failedMs }: Timer): string {
  return JSON.stringify({ task, due_ms: dueMs, failed_ms: failedMs });
}

function timerFromText(text: string): Timer | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    const { task, due_ms: dueMs, failed_ms: failedMs } = isFields(parsed) ? parsed : {};
    if (typeof task !== 'string' || !Number.isSafeInteger(dueMs)) return undefined;
    const failed = Number.isSafeInteger(failedMs) ? { failedMs: Number(failedMs) } : {};
    return { task, dueMs: Number(dueMs), ...failed };
  } catch {
    return undefined;
  }
}
