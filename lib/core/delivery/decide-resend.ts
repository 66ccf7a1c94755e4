import type { Envelope } from '../envelope/envelope.ts';
import { faultOf } from '../envelope/fault.ts';
import { NOT_BEFORE, withHeader, withoutHeader } from '../envelope/headers.ts';
import { arrive } from '../envelope/status.ts';
import { timestampText } from '../text/timestamp.ts';
import type { Context } from './context.ts';
import { planFailure } from './decide-failure.ts';
import { ackAfter, dispatchOf, failedFact, type Plan, releaseWith, resultFact } from './plan.ts';

/** Back to the own queue as it came: no attempt is counted, and no receive of the broker's is spent. */
export function planResend(original: Envelope, context: Context): Plan {
  const facts = [resultFact('returned')];
  // x-dlq has no queue of its own to send to: the dead-letter queue delivers again.
  if (context.actor.crew?.role === 'dlq') return releaseWith(facts);
  return ackAfter([dispatchOf(context.actor.name, 'again', original)], facts);
}

/** Not yet due: back to the own queue for the rest of the delay, or for as much of it as the transport can do. */
export function planDeferral(envelope: Envelope, dueMs: number, context: Context): Plan {
  const { actor, limits, now } = context;
  const undeliverable = planUndeliverable(envelope, dueMs, context);
  if (limits.maxDelayMs === 0) return undeliverable;
  const delayMs = Math.min(dueMs - now, limits.maxDelayMs);
  const dispatch = dispatchOf(actor.name, 'again', envelope, delayMs);
  return ackAfter([dispatch], [resultFact('deferred')], undeliverable);
}

/** What cannot wait here cannot wait at the sink either, so that the wait ends with it. An end actor keeps it. */
function planUndeliverable(envelope: Envelope, dueMs: number, context: Context): Plan {
  const { actor, now } = context;
  const facts = [failedFact('retry_send_failed')];
  if (actor.isEnd) return releaseWith(facts);
  const freed = { ...envelope, headers: withoutHeader(envelope.headers, NOT_BEFORE) };
  const message = `it is due at ${timestampText(dueMs)}, and it could not be sent with a delay`;
  const fault = faultOf('RuntimeError', message);
  return planFailure(arrive(freed, actor.name, now), context, { reason: 'RuntimeError', fault, facts });
}

/** A delay that the transport cannot do in one send is noted on the envelope, and done piece by piece. */
export function withDelay(
  envelope: Envelope,
  delayMs: number,
  context: Context,
): { envelope: Envelope; delayMs: number } {
  const { limits, now } = context;
  if (delayMs <= limits.maxDelayMs) return { envelope, delayMs };
  const headers = withHeader(envelope.headers, NOT_BEFORE, timestampText(now + delayMs));
  return { envelope: { ...envelope, headers }, delayMs: limits.maxDelayMs };
}
