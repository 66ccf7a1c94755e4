import type { Arrival } from '../envelope/decode.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { headerText, NOT_BEFORE, withoutHeader } from '../envelope/headers.ts';
import { hopOf } from '../envelope/route.ts';
import { type ArrivedEnvelope, arrive, deadlineMs } from '../envelope/status.ts';
import { instantMs } from '../text/timestamp.ts';
import type { Actor } from './actor.ts';

/** If less time than this is left until the deadline, the runtime is not called and no retry is sent. */
export const MIN_TIME_MS = 1_000;

/** The runtime is called, and its result decides where the envelope goes. */
export interface Call {
  readonly kind: 'call';
  readonly envelope: ArrivedEnvelope;
  /** The envelope as received, in case it has to be resent unchanged. */
  readonly original: Envelope;
  readonly timeoutMs: number;
  /** Which limit determined the timeout: the actor's timeout or the envelope's deadline. */
  readonly boundBy: 'actor' | 'deadline';
}

/** The runtime of an end actor is called. Its result is discarded. */
export interface EndActorCall {
  readonly kind: 'end-call';
  readonly envelope: Envelope;
  readonly original: Envelope;
  readonly timeoutMs: number;
}

/** The runtime is not called: the kind is the reason. */
export type Rejected =
  | Extract<Arrival, { kind: 'unreadable' }>
  | { readonly kind: 'canceled'; readonly envelope: Envelope }
  | { readonly kind: 'route-mismatch'; readonly envelope: ArrivedEnvelope }
  | { readonly kind: 'not-due'; readonly envelope: Envelope; readonly dueMs: number }
  | { readonly kind: 'hop-budget-exceeded'; readonly envelope: ArrivedEnvelope }
  | { readonly kind: 'expired'; readonly envelope: ArrivedEnvelope }
  | { readonly kind: 'host-out-of-time'; readonly envelope: Envelope };

export type Admission = Call | EndActorCall | Rejected;

/**
 * Decides whether the runtime is called for an envelope, and with which timeout: the smaller of the actor's timeout and
 * the time until the deadline. The checks run in this order: readable, not canceled, at the right actor, due, within
 * the hop budget, within the deadline, enough time left on the host. End actors skip the checks of route, hop budget
 * and deadline. `canceled` is checked first, because a canceled envelope has ended and must not get another end.
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
  // x-dlq reads other actors' dead-letter queues and has no own queue to send the envelope back to.
  const canDefer = actor.crew?.role !== 'dlq';
  if (canDefer && dueMs !== undefined && dueMs > now) return { kind: 'not-due', envelope: original, dueMs };
  const admission = actor.isEnd ? admitToEndActor(original, actor) : admitToActor(original, actor, now);
  return 'timeoutMs' in admission && hostTimeLeftMs < admission.timeoutMs
    ? { kind: 'host-out-of-time', envelope: original }
    : admission;
}

/** For so long an admission stays valid while its call waits for its turn. */
const MAX_WAIT_MS = 1_000;

/**
 * The latest time at which an admitted call may start. Until then a new admission would give it the same timeout, because
 * its deadline and the host leave more time than the call needs. Later it has to be admitted again.
 */
export function startByMs(
  { kind, envelope, timeoutMs }: Call | EndActorCall,
  now: number,
  hostTimeLeftMs: number,
): number {
  const deadline = kind === 'call' ? deadlineMs(envelope) : undefined;
  const leftMs = Math.min(hostTimeLeftMs, (deadline ?? Number.POSITIVE_INFINITY) - now);
  return now + Math.min(MAX_WAIT_MS, Math.max(0, leftMs - timeoutMs));
}

/** The deadline does not limit an end actor: an envelope that has ended is recorded even if it is late. */
function admitToEndActor(original: Envelope, actor: Actor): EndActorCall {
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
