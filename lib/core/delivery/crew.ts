import { isReservedName } from '../envelope/actor-name.ts';
import type { Arrival } from '../envelope/decode.ts';
import type { Envelope, Route, Status } from '../envelope/envelope.ts';
import { faultOf, statusErrorFromFault } from '../envelope/fault.ts';
import { statusAfter } from '../envelope/status.ts';
import type { Actor } from './actor.ts';

/** What x-sink and x-dlq record about where a delivery came from. */
export interface DeliverySource {
  readonly queue: string;
  readonly receiveCount: number;
}

const DLQ_SUFFIX = '-dlq';

/** The actor that a queue belongs to. For x-dlq: the actor whose dead-letter queue it is. */
export function sourceActor({ name, crew }: Actor, queue: string): string {
  if (crew?.role !== 'dlq') return name;
  const source = sourceQueue(queue);
  return source.startsWith(crew.queuePrefix) ? source.slice(crew.queuePrefix.length) : source;
}

function sourceQueue(deadLetterQueue: string): string {
  return deadLetterQueue.endsWith(DLQ_SUFFIX)
    ? deadLetterQueue.slice(0, -DLQ_SUFFIX.length)
    : deadLetterQueue;
}

/**
 * Converts an arrival for the crew, which rejects nothing. x-sink records an unreadable message as a failed envelope.
 * For x-dlq every message is a failed envelope, readable or not. Other actors get the arrival unchanged.
 */
export function normalizeForCrew(
  arrival: Arrival,
  actor: Actor,
  source: DeliverySource,
  now: number,
): Arrival {
  switch (actor.crew?.role) {
    case 'sink':
      return arrival.kind === 'unreadable'
        ? { kind: 'readable', envelope: unreadableEnd(arrival, actor, now) }
        : arrival;
    case 'dlq':
      return {
        kind: 'readable',
        envelope: deadLetter(arrival, sourceActor(actor, source.queue), source, now),
      };
    case 'sump':
    case undefined:
      return arrival;
  }
}

/** Reserved names are not valid in a route. */
function withoutCrew(route: Route): Route {
  return isReservedName(route.curr) ? { ...route, curr: '' } : route;
}

function unreadableEnd(
  arrival: Extract<Arrival, { kind: 'unreadable' }>,
  { name }: Actor,
  now: number,
): Envelope {
  const { envelope, reason, problem } = arrival;
  const error = statusErrorFromFault(faultOf(reason, problem));
  return {
    ...envelope,
    route: withoutCrew(envelope.route),
    status: {
      ...statusAfter(envelope.status, { phase: 'failed', reason, actor: name, now, error }),
      unreadable: true,
    },
  };
}

/** Keeps the status before the failure in `status.before`: a replay to a queue of the crew restores it. */
function deadLetter(
  arrival: Arrival,
  actor: string,
  { queue, receiveCount }: DeliverySource,
  now: number,
): Envelope {
  const { envelope } = arrival;
  const name = sourceQueue(queue);
  const message = `received ${receiveCount} times from "${name}" without an acknowledgement`;
  const isUnreadable = arrival.kind === 'unreadable';
  const fault = faultOf('DeliveryExhausted', isUnreadable ? `${message}; ${arrival.problem}` : message);
  const { before: _earlier, ...before } = envelope.status ?? {};
  const status: Status = statusAfter(before, {
    phase: 'failed',
    reason: 'DeliveryExhausted',
    actor,
    now,
    error: statusErrorFromFault(fault),
  });
  return {
    ...envelope,
    route: withoutCrew(envelope.route),
    status: {
      ...status,
      queue: name,
      receive_count: receiveCount,
      ...(envelope.status !== undefined && { before }),
      ...(isUnreadable ? { unreadable: true } : {}),
    },
  };
}
