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
  readonly asCame: Envelope;
  readonly timeoutMs: number;
  /** Whose time it is that would run out. */
  readonly boundBy: 'actor' | 'deadline';
}

/** A call at the end of the way: nothing follows it. */
export interface EndCall {
  readonly kind: 'end-call';
  readonly envelope: Envelope;
  readonly asCame: Envelope;
  readonly timeoutMs: number;
}

/** An envelope for which the runtime is not called, and why. */
export type TurnedAway =
  | Extract<Arrival, { kind: 'unreadable' }>
  | { readonly kind: 'canceled'; readonly envelope: Envelope }
  | { readonly kind: 'mismatch'; readonly envelope: ArrivedEnvelope }
  | { readonly kind: 'early'; readonly envelope: Envelope; readonly dueMs: number }
  | { readonly kind: 'hops-spent'; readonly envelope: ArrivedEnvelope }
  | { readonly kind: 'expired'; readonly envelope: ArrivedEnvelope }
  | { readonly kind: 'host-out-of-time'; readonly envelope: Envelope };

export type Admission = Call | EndCall | TurnedAway;

/**
 * Whether the runtime is called, and how long it may take: the least of what the actor, the deadline and the host
 * allow. A canceled envelope has its end already, so that nothing here may give it another.
 */
export function admit(arrival: Arrival, actor: Actor, now: number, hostTimeLeftMs: number): Admission {
  if (arrival.kind === 'unreadable') return arrival;
  const asCame = arrival.envelope;
  if (!actor.isEnd) {
    if (asCame.status?.phase === 'canceled') return { kind: 'canceled', envelope: asCame };
    if (asCame.route.curr !== actor.name)
      return { kind: 'mismatch', envelope: arrive(asCame, actor.name, now) };
  }
  const dueMs = instantMs(headerText(asCame.headers, NOT_BEFORE));
  // x-dlq has no queue of its own to wait in.
  const canWait = actor.crew?.role !== 'dlq';
  if (canWait && dueMs !== undefined && dueMs > now) return { kind: 'early', envelope: asCame, dueMs };
  const admission = actor.isEnd ? admitToEnd(asCame, actor) : admitToWork(asCame, actor, now);
  return 'timeoutMs' in admission && hostTimeLeftMs < admission.timeoutMs
    ? { kind: 'host-out-of-time', envelope: asCame }
    : admission;
}

/** What ends here may be late: its deadline bounds nothing any more. */
function admitToEnd(asCame: Envelope, actor: Actor): EndCall {
  return { kind: 'end-call', envelope: withoutWait(asCame), asCame, timeoutMs: actor.timeoutMs };
}

function admitToWork(asCame: Envelope, actor: Actor, now: number): Admission {
  const envelope = arrive(withoutWait(asCame), actor.name, now);
  if (hopOf(envelope.route) >= actor.maxHops) return { kind: 'hops-spent', envelope };
  const leftMs = (deadlineMs(envelope) ?? Number.POSITIVE_INFINITY) - now;
  if (leftMs < MIN_TIME_MS) return { kind: 'expired', envelope };
  return leftMs < actor.timeoutMs
    ? { kind: 'call', envelope, asCame, timeoutMs: leftMs, boundBy: 'deadline' }
    : { kind: 'call', envelope, asCame, timeoutMs: actor.timeoutMs, boundBy: 'actor' };
}

function withoutWait(envelope: Envelope): Envelope {
  return { ...envelope, headers: withoutHeader(envelope.headers, NOT_BEFORE) };
}
