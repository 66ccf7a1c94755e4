import { isCrewName } from '../envelope/actor-name.ts';
import type { Arrival } from '../envelope/decode.ts';
import type { Envelope, Route, Status } from '../envelope/envelope.ts';
import { faultOf, statusErrorFromFault } from '../envelope/fault.ts';
import { statusAfter } from '../envelope/status.ts';
import type { Actor } from './actor.ts';

/** Where a delivery came from, as far as the crew tells it on. */
export interface DeliverySource {
  readonly queue: string;
  readonly receiveCount: number;
}

const DLQ_SUFFIX = '-dlq';

/** The actor whose envelopes a queue holds: for x-dlq, the one they were meant for. */
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
 * The crew turns nothing away: what x-sink cannot read is kept whole as failed, and whatever was dead-lettered has
 * failed, readable or not. For everybody else an arrival is what was decoded.
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

/** One of the crew stands in no route: what could not be read there has none. */
function withoutCrew(route: Route): Route {
  return isCrewName(route.curr) ? { ...route, curr: '' } : route;
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

/** The status it came with is kept beside: a replay to the crew's own queues needs it back. */
function deadLetter(
  arrival: Arrival,
  actor: string,
  { queue, receiveCount }: DeliverySource,
  now: number,
): Envelope {
  const { envelope } = arrival;
  const name = sourceQueue(queue);
  const words = `received from "${name}" again and again and never acked; the broker counted ${receiveCount} receives`;
  const isUnreadable = arrival.kind === 'unreadable';
  const fault = faultOf('DeliveryExhausted', isUnreadable ? `${words}; ${arrival.problem}` : words);
  const { before: _older, ...before } = envelope.status ?? {};
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
