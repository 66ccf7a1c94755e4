import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { Actor, Crew } from '../../../lib/core/delivery/actor.ts';
import { admit } from '../../../lib/core/delivery/admit.ts';
import { normalizeForCrew, sourceActor } from '../../../lib/core/delivery/crew.ts';
import { decide } from '../../../lib/core/delivery/decide.ts';
import type { Outcome } from '../../../lib/core/delivery/outcome.ts';
import { decode } from '../../../lib/core/envelope/decode.ts';
import { encode } from '../../../lib/core/envelope/encode.ts';
import { endOf } from '../../../lib/core/envelope/end.ts';
import type { Envelope } from '../../../lib/core/envelope/envelope.ts';
import { failureOf } from '../../../lib/core/failure/failure.ts';
import { recordOf } from '../../../lib/core/failure/record.ts';
import { defined } from '../../../lib/core/text/defined.ts';
import { law } from '../law.ts';
import { type Delivery, deliveries } from './delivery.ts';
import { deriveId, dispatchesOf, originAt } from './process-delivery.ts';

const SUMP = 'x-sump';

const CREW: Readonly<Record<string, Partial<Actor> & { readonly crew?: Crew }>> = {
  user: {},
  sink: { name: 'x-sink', isEnd: true, crew: { role: 'sink', sump: SUMP } },
  sump: { name: SUMP, isEnd: true, crew: { role: 'sump' } },
  dlq: { name: 'x-dlq', isEnd: true, crew: { role: 'dlq', queuePrefix: 'asya-prod-' } },
};

const ends = fc.constantFrom('succeeded', 'failed', 'failed', 'canceled', 'retrying', undefined);
const reasons = fc.constantFrom('Dropped', 'Escalated', 'PolicyExhausted', 'Completed', undefined);
const QUEUES = ['asya-prod-score-dlq', 'asya-prod-x-sink-dlq', 'Other_Queue', 'score'];

interface CrewDelivery extends Delivery {
  readonly role: string;
  readonly queue: string;
}

/** Any delivery, at an actor of the crew or another one, with ends as the sidecar writes them. */
const crewDeliveries: fc.Arbitrary<CrewDelivery> = fc
  .tuple(
    deliveries({ hasStatus: fc.constant(true) }),
    fc.constantFrom('user', 'sink', 'sink', 'sump', 'dlq'),
    ends,
    reasons,
    fc.constantFrom(...QUEUES),
    fc.constantFrom(true, true, true, false),
  )
  .map(([delivery, role, phase, reason, queue, isKept]) => ({
    ...delivery,
    role,
    queue,
    actor: { ...delivery.actor, ...CREW[role] },
    body: withEnd(delivery.body, phase, reason),
    end: isKept && role !== 'user' ? { kind: 'empty' } : delivery.end,
  }));

function withEnd(body: string | Uint8Array, phase: unknown, reason: unknown): string | Uint8Array {
  const arrival = decode(body, originAt('score'));
  if (arrival.kind === 'unreadable') return body;
  const { status } = arrival.envelope;
  const end = { ...status, phase, ...defined({ reason }) };
  return encode({ ...arrival.envelope, status: end } as Envelope);
}

function processDelivery(delivery: CrewDelivery) {
  const { actor, limits, now, elapsedMs, random, queue } = delivery;
  const decoded = decode(delivery.body, originAt(sourceActor(actor, queue)));
  const arrival = normalizeForCrew(decoded, actor, { queue, receiveCount: 6 }, now);
  const admission = admit(arrival, actor, now, delivery.hostTimeLeftMs);
  const isCalled = admission.kind === 'call' || admission.kind === 'end-call';
  const outcome: Outcome = isCalled ? { kind: 'called', call: admission, end: delivery.end } : admission;
  const plan = decide(outcome, { actor, limits, now: now + elapsedMs, random: random, deriveId });
  return { decoded, arrival, admission, plan };
}

function kindOf(delivery: CrewDelivery): string {
  const { decoded, admission, plan } = processDelivery(delivery);
  const sends = plan.dispatches.map(({ type }) => type).join('+') || 'nothing';
  return `${delivery.role} ${decoded.kind}: ${admission.kind}, ${plan.settle} after ${sends}`;
}

describe('the crew', () => {
  law(
    'only x-sink sends to x-sump: failed envelopes that were not dropped, after recording them, unchanged',
    crewDeliveries,
    (delivery) => {
      const { admission, plan } = processDelivery(delivery);
      const toSump = dispatchesOf(plan).filter(({ to, type }) => to === SUMP && type !== 'again');
      const isKept =
        delivery.role === 'sink' &&
        admission.kind === 'end-call' &&
        ['empty', 'frames'].includes(delivery.end.kind);
      if (!isKept) return expect(toSump).toEqual([]);
      const { envelope } = admission;
      const isWanted = endOf(envelope) === 'failed' && envelope.status?.reason !== 'Dropped';
      expect(toSump.map(({ type, delayMs }) => [type, delayMs])).toEqual(isWanted ? [['sump', 0]] : []);
      expect(plan.dispatches).toEqual(toSump);
      for (const { body } of toSump) expect(body).toBe(encode(envelope));
    },
    kindOf,
    [
      'sink readable: end-call, ack after sump',
      'sink readable: end-call, ack after nothing',
      'sink readable: end-call, release after nothing',
      'sink unreadable: end-call, ack after sump',
      'sump readable: end-call, ack after nothing',
      'dlq readable: end-call, ack after nothing',
      'user readable: call, ack after sink',
    ],
  );

  law(
    'x-sink and x-dlq accept every message and store it as a readable envelope',
    crewDeliveries.filter(({ role }) => role === 'sink' || role === 'dlq'),
    (delivery) => {
      const { decoded, arrival, admission } = processDelivery(delivery);
      expect(arrival.kind).toBe('readable');
      expect(admission.kind).not.toBe('unreadable');
      const { envelope } = arrival;
      expect(envelope.payload).toBe(decoded.envelope.payload);
      const kept = decode(encode(envelope), originAt(SUMP));
      expect(kept.kind === 'readable' ? '' : kept.problem).toBe('');
    },
    (delivery) => `${delivery.role} ${processDelivery(delivery).decoded.kind}`,
    ['sink readable', 'sink unreadable', 'dlq readable', 'dlq unreadable'],
  );

  law(
    'x-sump adds the same record and failure that x-sink stored',
    crewDeliveries.filter(({ role }) => role === 'sink'),
    (delivery) => {
      const { admission, plan } = processDelivery(delivery);
      if (admission.kind !== 'end-call') return;
      for (const { body } of plan.dispatches.filter(({ type }) => type === 'sump')) {
        const arrival = decode(body, originAt(SUMP));
        expect(arrival.kind).toBe('readable');
        const { now } = delivery;
        const { identity } = recordOf(admission.envelope, now, deriveId);
        expect(recordOf(arrival.envelope, now, deriveId).identity).toBe(identity);
        expect(failureOf(arrival.envelope, now, deriveId)).toEqual(
          failureOf(admission.envelope, now, deriveId),
        );
      }
    },
    (delivery) =>
      processDelivery(delivery).plan.dispatches.some(({ type }) => type === 'sump') ? 'forwarded' : 'not',
    ['forwarded', 'not'],
  );
});
