import { describe, expect, it } from 'vitest';
import type { Actor, Crew } from '../../../lib/core/delivery/actor.ts';
import { normalizeForCrew, sourceActor } from '../../../lib/core/delivery/crew.ts';
import { decode } from '../../../lib/core/envelope/decode.ts';
import { encode } from '../../../lib/core/envelope/encode.ts';
import type { Envelope } from '../../../lib/core/envelope/envelope.ts';
import { errorOf } from '../../../lib/core/failure/failure.ts';
import { anActor, anEnvelope, at, NOW, NOW_TEXT, ORIGIN } from '../a-delivery.ts';
import { A_FAILURE, aFailedBody, arrivalOf } from '../an-end.ts';

const crewActor = (name: string, crew: Crew): Actor => anActor({ name, isEnd: true, crew });
const SINK = crewActor('x-sink', { role: 'sink', sump: 'x-sump' });
const SUMP = crewActor('x-sump', { role: 'sump' });
const DLQ = crewActor('x-dlq', { role: 'dlq', queuePrefix: '' });
const DLQ_OF_PROD = crewActor('x-dlq', { role: 'dlq', queuePrefix: 'asya-prod-' });

const body = (fields: unknown) => JSON.stringify(fields);
const READABLE = body(anEnvelope());
const SOURCE = { queue: 'score', receiveCount: 6 };

/** Decoded and normalized, as for a real delivery. */
function normalized(text: string | Uint8Array, actor: Actor, source = SOURCE): Envelope {
  const origin = { ...ORIGIN, actor: sourceActor(actor, source.queue) };
  const arrival = normalizeForCrew(decode(text, origin), actor, source, NOW);
  expect(arrival.kind).toBe('readable');
  return arrival.envelope;
}

/** The envelope as x-sump or a reader of the archive decodes it. */
function readAgain(envelope: Envelope): Envelope {
  const again = arrivalOf(encode(envelope), 'x-sump');
  expect(again.kind === 'readable' ? '' : again.problem).toBe('');
  return again.envelope;
}

describe('normalizeForCrew returns the arrival unchanged', () => {
  it.each([
    ['at a normal actor', anActor()],
    ['at an end actor', anActor({ name: 'archive', isEnd: true })],
    ['at x-sink with a runtime', anActor({ name: 'x-sink', isEnd: true })],
    ['at x-sump', SUMP],
  ])('%s', (_where, actor) => {
    for (const text of [READABLE, 'nonsense', body(aFailedBody())]) {
      const arrival = arrivalOf(text, actor.name);
      expect(normalizeForCrew(arrival, actor, SOURCE, NOW)).toBe(arrival);
    }
  });

  it('at x-sink if it is readable', () => {
    for (const text of [READABLE, body(aFailedBody())]) {
      const arrival = arrivalOf(text, 'x-sink');
      expect(normalizeForCrew(arrival, SINK, SOURCE, NOW)).toBe(arrival);
    }
  });
});

const NOT_ENVELOPES: readonly (readonly [string, string | Uint8Array, string, unknown])[] = [
  ['text that is not JSON', 'nonsense \u0001 "', 'ParseError', { raw: 'nonsense \u0001 "' }],
  ['an empty body', '', 'ParseError', { raw: '' }],
  ['JSON that is not an envelope', '{"id":"e-9"}', 'ValidationError', { raw: '{"id":"e-9"}' }],
  ['bytes that are not UTF-8', new Uint8Array([0xff, 0x00, 0xfe]), 'ParseError', { raw_base64: '/wD+' }],
];

describe('x-sink records an unreadable message as a failed envelope', () => {
  it.each(NOT_ENVELOPES)('%s', (_what, text, reason, payload) => {
    const envelope = normalized(text, SINK);
    expect(JSON.parse(envelope.payload)).toEqual(payload);
    expect(envelope.status).toMatchObject({
      phase: 'failed',
      reason,
      actor: 'x-sink',
      updated_at: NOW_TEXT,
      unreadable: true,
      error: { type: reason, mro: [], traceback: '' },
    });
  });

  it('that x-sump and readers of the archive can decode', () => {
    for (const [, text] of NOT_ENVELOPES) {
      const envelope = normalized(text, SINK);
      expect(envelope.route).toEqual({ prev: [], curr: '', next: [] });
      expect(readAgain(envelope)).toEqual(envelope);
    }
  });

  it('with its original id, or a derived one that is the same on redelivery', () => {
    expect(normalized('{"id":"e-9"}', SINK).id).toBe('e-9');
    expect(normalized('nonsense', SINK).id).toBe(normalized('nonsense', SINK).id);
  });
});

describe('x-dlq records a dead-lettered message as failed', () => {
  it('with its queue, its receive count and its previous status', () => {
    const status = { phase: 'retrying', actor: 'score', attempt: 2, created_at: at(-5_000), more: [1] };
    const received = anEnvelope({ status, parent_id: 'p-1', headers: { a: 1 }, extra: { kept: true } });
    const envelope = normalized(body(received), DLQ, { queue: 'score-dlq', receiveCount: 6 });
    expect(JSON.parse(encode(envelope))).toEqual({
      ...received,
      status: {
        ...status,
        phase: 'failed',
        reason: 'DeliveryExhausted',
        updated_at: NOW_TEXT,
        error: {
          type: 'DeliveryExhausted',
          mro: [],
          message: 'received 6 times from "score" without an acknowledgement',
          traceback: '',
        },
        queue: 'score',
        receive_count: 6,
        before: status,
      },
    });
  });

  it('without a previous status if the envelope had none', () => {
    const { status } = normalized(READABLE, DLQ, { queue: 'score-dlq', receiveCount: 6 });
    expect(status).not.toHaveProperty('before');
    expect(status).not.toHaveProperty('unreadable');
  });

  it('with only the latest previous status, if it is dead-lettered twice', () => {
    const once = normalized(body(aFailedBody()), DLQ, { queue: 'x-sink-dlq', receiveCount: 6 });
    const twice = normalized(encode(once), DLQ, { queue: 'x-sink-dlq', receiveCount: 7 });
    expect(once.status?.['before']).toEqual(A_FAILURE);
    expect(twice.status?.['before']).toMatchObject({ reason: 'DeliveryExhausted', receive_count: 6 });
    expect(twice.status?.['before']).not.toHaveProperty('before');
  });

  it('with the bytes of its payload', () => {
    const payload = '{"n":9007199254740993,"a":1,"a":2}';
    const text = `{"id":"e-1","route":{"prev":[],"curr":"score","next":[]},"payload":${payload}}`;
    expect(normalized(text, DLQ, { queue: 'score-dlq', receiveCount: 6 }).payload).toBe(payload);
  });

  it.each(NOT_ENVELOPES)('even if it is unreadable: %s', (_what, text, _reason, payload) => {
    const envelope = normalized(text, DLQ, { queue: 'score-dlq', receiveCount: 6 });
    expect(JSON.parse(envelope.payload)).toEqual(payload);
    expect(envelope.route).toEqual({ prev: [], curr: 'score', next: [] });
    expect(envelope.status).toMatchObject({
      phase: 'failed',
      reason: 'DeliveryExhausted',
      actor: 'score',
      unreadable: true,
    });
    const { message } = errorOf(envelope);
    expect(message).toMatch(
      /^received 6 times from "score" without an acknowledgement; (the body|route|payload) /,
    );
    expect(readAgain(envelope)).toEqual(envelope);
  });

  it('with a readable envelope if the queue belongs to the crew', () => {
    for (const queue of ['x-sink-dlq', 'x-sump-dlq', 'Not_An_Actor-dlq', '-dlq', 'q'.repeat(90)]) {
      const envelope = normalized('nonsense', DLQ, { queue, receiveCount: 6 });
      expect(envelope.route.curr).toBe('');
      readAgain(envelope);
    }
  });
});

describe('sourceActor', () => {
  it.each<[string, Actor, string, string]>([
    ['is the actor for a normal actor', anActor(), 'asya-prod-score', 'score'],
    ['is x-sink for x-sink', SINK, 'whatever-dlq', 'x-sink'],
    ['is the actor of the queue for x-dlq', DLQ, 'score-dlq', 'score'],
    ['has no namespace prefix', DLQ_OF_PROD, 'asya-prod-score-dlq', 'score'],
    ['may be an actor of the crew', DLQ_OF_PROD, 'asya-prod-x-sink-dlq', 'x-sink'],
    ['may have a name that ends in -dlq', DLQ, 'my-dlq-dlq', 'my-dlq'],
    ["is the queue's name if it does not end in -dlq", DLQ, 'dead-letters', 'dead-letters'],
    ['keeps the prefix of another namespace', DLQ_OF_PROD, 'legacy-dlq', 'legacy'],
  ])('%s', (_what, actor, queue, name) => {
    expect(sourceActor(actor, queue)).toBe(name);
  });
});
