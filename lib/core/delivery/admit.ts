import type { Arrival } from '../envelope/decode.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { headerText, NOT_BEFORE, withoutHeader } from '../envelope/headers.ts';
import { hopOf } from '../envelope/route.ts';
import { type ArrivedEnvelope, arrive, deadlineMs } from '../envelope/status.ts';
import { instantMs } from '../text/timestamp.ts';
import type { Actor } from './actor.ts';

/** With less than this left to the deadline, no call and no retry is worth making. */
export const MIN_TIME_MS = 1_000;

/** A call to be made on the way of an envelope. */
export interface Call {
  readonly kind: 'call';
  readonly envelope: ArrivedEnvelope;
  /** As it came, should it have to go back unchanged. */
  readonly original: Envelope;
  readonly timeoutMs: number;
  /** Whose time it is that would run out. */
  readonly boundBy: 'actor' | 'deadline';
}

/** A call at the end of the way: nothing follows it. */
export interface EndCall {
  readonly kind: 'end-call';
  readonly envelope: Envelope;
  readonly original: Envelope;
  readonly timeoutMs: number;
}

/** An envelope for which the runtime is not called, and why. */
export type Rejected =
  | Extract<Arrival, { kind: 'unreadable' }>
  | { readonly kind: 'canceled'; readonly envelope: Envelope }
  | { readonly kind: 'route-mismatch'; readonly envelope: ArrivedEnvelope }
  | { readonly kind: 'not-due'; readonly envelope: Envelope; readonly dueMs: number }
  | { readonly kind: 'hop-budget-exceeded'; readonly envelope: ArrivedEnvelope }
  | { readonly kind: 'expired'; readonly envelope: ArrivedEnvelope }
  | { readonly kind: 'host-out-of-time'; readonly envelope: Envelope };

export type Admission = Call | EndCall | Rejected;

/**
 * Whether the runtime is called, and how long it may take: the least of what the actor, the deadline and the host
 * allow. A canceled envelope has its end already, so that nothing here may give it another.
 */
export function admit(arrival: Arrival, actor: Actor, now: number, hostTimeLeftMs: number): Admission {
  if (arrival.kind === 'unreadable') return arrival;
  const original = arrival.envelope;
  if (!actor.isEnd) {
    if (original.status?.phase === 'canceled') return { kind: 'canceled', envelope: original };
    if (original.route.curr !== actor.name)
      return { kind: 'route-mismatch', envelope: arrive(original, actor.name, now) };
  }
  const dueMs = instantMs(headerText(original.headers, NOT_BEFORE));
  // x-dlq has no queue of its own to wait in.
  const canWait = actor.crew?.role !== 'dlq';
  if (canWait && dueMs !== undefined && dueMs > now) return { kind: 'not-due', envelope: original, dueMs };
  const admission = actor.isEnd ? admitToEndActor(original, actor) : admitToActor(original, actor, now);
  return 'timeoutMs' in admission && hostTimeLeftMs < admission.timeoutMs
    ? { kind: 'host-out-of-time', envelope: original }
    : admission;
}

/** What ends here may be late: its deadline bounds nothing any more. */
function admitToEndActor(original: Envelope, actor: Actor): EndCall {
  return { kind: 'end-call', envelope: withoutNotBefore(original), original, timeoutMs: actor.timeoutMs };
}

function admitToActor(original: Envelope, actor: Actor, now: number): Admission {
  const envelope = arrive(withoutNotBefore(original), actor.name, now);
  if (hopOf(envelope.route) >= actor.maxHops) return { kind: 'hop-budget-exceeded', envelope };
  const leftMs = (deadlineMs(envelope) ?? Number.POSITIVE_INFINITY) - now;
  if (leftMs < MIN_TIME_MS) return { kind: 'expired', envelope };
  return leftMs < actor.timeoutMs
    ? { kind: 'call', envelope, original, timeoutMs: leftMs, boundBy: 'deadline' }
    : { kind: 'call', envelope, original, timeoutMs: actor.timeoutMs, boundBy: 'actor' };
}

function withoutNotBefore(envelope: Envelope): Envelope {
  return { ...envelope, headers: withoutHeader(envelope.headers, NOT_BEFORE) };
}
