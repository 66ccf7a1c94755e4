import type { Envelope } from '../envelope/envelope.ts';
import { faultOf } from '../envelope/fault.ts';
import { NOT_BEFORE, withHeader, withoutHeader } from '../envelope/headers.ts';
import { arrive } from '../envelope/status.ts';
import { timestampText } from '../text/timestamp.ts';
import type { Context } from './context.ts';
import { planFailure } from './decide-failure.ts';
import { ackAfter, dispatchOf, failedFact, type Plan, releaseWith, resultFact } from './plan.ts';

/** Plans that send an envelope back to the actor's own queue. */

/** Resends the envelope unchanged and immediately. No attempt is counted, and the broker's receive count starts again. */
export function planResend(original: Envelope, context: Context): Plan {
  const facts = [resultFact('returned')];
  // x-dlq has no own queue to send to. The dead-letter queue delivers the message again.
  if (context.actor.crew?.role === 'dlq') return releaseWith(facts);
  return ackAfter([dispatchOf(context.actor.name, 'again', original)], facts);
}

/** The envelope is not due yet: resends it with the rest of the delay, or with the transport's longest delay. */
export function planDeferral(envelope: Envelope, dueMs: number, context: Context): Plan {
  const { actor, limits, now } = context;
  const undeliverable = planUndeliverable(envelope, dueMs, context);
  if (limits.maxDelayMs === 0) return undeliverable;
  const delayMs = Math.min(dueMs - now, limits.maxDelayMs);
  const dispatch = dispatchOf(actor.name, 'again', envelope, delayMs);
  return ackAfter([dispatch], [resultFact('deferred')], undeliverable);
}

/**
 * The plan if the delay is not possible: the envelope fails, without the header that would delay it at x-sink as well.
 * An end actor releases the delivery instead.
 */
function planUndeliverable(envelope: Envelope, dueMs: number, context: Context): Plan {
  const { actor, now } = context;
  const facts = [failedFact('retry_send_failed')];
  if (actor.isEnd) return releaseWith(facts);
  const due = { ...envelope, headers: withoutHeader(envelope.headers, NOT_BEFORE) };
  const message = `the envelope is due at ${timestampText(dueMs)}, but it could not be sent with a delay`;
  const fault = faultOf('RuntimeError', message);
  return planFailure(arrive(due, actor.name, now), context, { reason: 'RuntimeError', fault, facts });
}

/**
 * Splits a delay that is too long for one send: the envelope is sent with the transport's longest delay, and the header
 * `x-asya-not-before` contains when it is due.
 */
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
