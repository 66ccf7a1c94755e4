import { errorText } from '../../core/text/error-text.ts';
import { type Fields, isFields } from '../../core/text/fields.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Reply } from '../../ports/reply.ts';
import type { Details, Telemetry } from '../../ports/telemetry.ts';
import type { Transport } from '../../ports/transport.ts';
import type { Gateway } from './gateway.ts';
import type { Timer } from './gateway-deps.ts';

export interface TimerDeps {
  readonly gateway: Pick<Gateway, 'expire' | 'sweep'>;
  readonly arm: (timer: Timer) => Promise<Reply>;
  readonly clock: Clock;
  readonly telemetry: Pick<Telemetry, 'warn'>;
}

/**
 * Returns a function that arms timers as delayed messages, which survive the process that armed them. A timer beyond the
 * transport's longest delay is rescheduled each time it arrives early.
 */
export function armTimerOn(
  transport: Pick<Transport, 'sendWithDelay' | 'traits'>,
  queue: string,
  clock: Clock,
): (timer: Timer) => Promise<Reply> {
  return async (timer) => {
    const remainingMs = Math.max(0, timer.dueMs - clock.now());
    // Without a delay the message would return immediately, in a loop.
    if (remainingMs > 0 && transport.traits.maxDelayMs === 0) return { ok: false, problem: NO_DELAYS };
    return transport.sendWithDelay(queue, textOf(timer), Math.min(remainingMs, transport.traits.maxDelayMs));
  };
}

const NO_DELAYS =
  'a flow with a timeout needs a transport with delayed messages, for its backstop timer; on RabbitMQ set ASYA_RABBITMQ_DELAY=ttl';

/** When the store is down: the time between two tries, and the time after which the timer goes to the dead-letter queue. */
const RETRY_AFTER_MS = 60_000;
const GIVE_UP_AFTER_MS = 86_400_000;

/**
 * Handles one timer message; handling it twice is harmless. Returns false if the message must not be acknowledged.
 * If the store is down, the timer is rescheduled: after a few receives it would be moved to the dead-letter queue and
 * never fire again.
 */
export async function handleTimer(body: string, deps: TimerDeps): Promise<boolean> {
  const { gateway, clock, telemetry } = deps;
  const timer = timerFromText(body);
  if (timer === undefined) {
    telemetry.warn('invalid timer message; it will be moved to the dead-letter queue', {});
    return false;
  }
  if (timer.dueMs > clock.now()) return reschedule(timer, deps);
  try {
    if ('task' in timer) {
      await gateway.expire(timer.task);
      return true;
    }
    const { hasMore } = await gateway.sweep(timer);
    return hasMore ? reschedule({ ...timer, dueMs: clock.now() }, deps) : true;
  } catch (error) {
    const problem = errorText(error);
    telemetry.warn('a task could not be expired; its timer will fire again', {
      ...subjectOf(timer),
      problem,
    });
    const now = clock.now();
    const { failedMs = now } = timer;
    if (now - failedMs > GIVE_UP_AFTER_MS) return false;
    return reschedule({ ...timer, dueMs: now + RETRY_AFTER_MS, failedMs }, deps);
  }
}

async function reschedule(timer: Timer, { arm, telemetry }: TimerDeps): Promise<boolean> {
  const reply = await arm(timer);
  if (!reply.ok)
    telemetry.warn('a timer could not be rescheduled', { ...subjectOf(timer), problem: reply.problem });
  return reply.ok;
}

function subjectOf(timer: Timer): Details {
  return 'task' in timer ? { task: timer.task } : { sweep: timer.id };
}

function textOf(timer: Timer): string {
  const { dueMs: due_ms, failedMs: failed_ms } = timer;
  if ('task' in timer) return JSON.stringify({ task: timer.task, due_ms, failed_ms });
  const { id: sweep, owner, fromMs: from_ms, toMs: to_ms, timeoutMs: timeout_ms } = timer;
  return JSON.stringify({ sweep, owner, from_ms, to_ms, timeout_ms, due_ms, failed_ms });
}

function timerFromText(text: string): Timer | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    if (!isFields(parsed) || !isTime(parsed['due_ms'])) return undefined;
    const { task, due_ms: dueMs, failed_ms: failedMs } = parsed;
    const when = { dueMs, ...(isTime(failedMs) && { failedMs }) };
    return typeof task === 'string' ? { task, ...when } : sweepFrom(parsed, when);
  } catch {
    return undefined;
  }
}

function sweepFrom(
  { sweep: id, owner, from_ms: fromMs, to_ms: toMs, timeout_ms: timeoutMs }: Fields,
  when: Pick<Timer, 'dueMs' | 'failedMs'>,
): Timer | undefined {
  if (typeof id !== 'string' || typeof owner !== 'string') return undefined;
  if (!isTime(fromMs) || !isTime(toMs) || !isTime(timeoutMs)) return undefined;
  return { id, owner, fromMs, toMs, timeoutMs, ...when };
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
