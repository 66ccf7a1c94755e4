import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { decode } from '../../../lib/core/envelope/decode.ts';
import { encode } from '../../../lib/core/envelope/encode.ts';
import { law } from '../law.ts';
import { FLAWS, flaws } from './arbitraries.ts';
import { deliveries } from './delivery.ts';
import {
  anyTexts,
  documentTexts,
  jsonTexts,
  mutatedBytes,
  mutatedTexts,
  parses,
} from './json-arbitraries.ts';
import { membersOf, originAt, parsed, processDelivery } from './process-delivery.ts';
import { ACTOR } from './written.ts';

const whole = fc.constant(undefined);

/** Bodies of valid envelopes, as text. */
const envelopeTexts = deliveries({ flaw: whole }).map(({ body }) => textOf(body));

/** The same, with many multi-byte characters, which a cut may split. */
const textsOfManyBytes = deliveries({
  flaw: whole,
  payload: fc.oneof(fc.constant(`"${'\u{1f600}'.repeat(100)}"`), jsonTexts),
}).map(({ body }) => textOf(body));

describe('the envelope on the wire', () => {
  law(
    'decodes every valid body, and decodes an encoded envelope to the same envelope',
    deliveries({ flaw: whole }),
    ({ body, written }) => {
      const arrival = decode(body, originAt(ACTOR));
      expect(arrival.kind === 'readable' ? 'readable' : arrival.problem).toBe('readable');
      const { envelope } = arrival;
      expect(envelope.route).toMatchObject({ prev: written.prev, curr: written.curr, next: written.next });
      const text = encode(envelope);
      const again = decode(text, originAt(ACTOR));
      expect(isDeepStrictEqual(again, arrival)).toBe(true);
      expect(encode(again.envelope)).toBe(text);
    },
    ({ body, written }) => [
      typeof body === 'string' ? 'text' : 'bytes',
      membersOf(membersOf(textOf(body)).get('route')).get('actors') === undefined
        ? 'new route'
        : 'older route',
      written.phase === undefined ? 'no phase' : `phase ${written.phase}`,
    ],
    [
      'text',
      'bytes',
      'new route',
      'older route',
      'phase retrying',
      'phase later-word',
      'phase 7',
      'no phase',
    ],
  );

  law(
    'reads an envelope alike in every layout',
    deliveries({ flaw: whole }),
    ({ body }) => {
      const text = encode(decode(body, originAt(ACTOR)).envelope);
      const usual = decode(text, originAt(ACTOR));
      // White space before the first member is not the layout that is read without scanning it first.
      const other = decode(text.replace('{', '{ '), originAt(ACTOR));
      expect(isDeepStrictEqual(other, usual)).toBe(true);
    },
    ({ written }) => [
      written.parentId === undefined ? 'no parent' : 'parent',
      written.extra.size === 0 ? 'no unknown keys' : 'unknown keys',
    ],
    ['no parent', 'parent', 'no unknown keys', 'unknown keys'],
  );

  law(
    'keeps the bytes of payload, headers and unknown keys',
    deliveries({ flaw: whole }),
    ({ body, written }) => {
      const text = encode(decode(body, originAt(ACTOR)).envelope);
      const members = membersOf(text);
      expect(members.get('payload') === written.payload).toBe(true);
      for (const [key, value] of written.extra) expect(members.get(key)).toBe(value);
      const headers = membersOf(members.get('headers'));
      for (const [key, value] of written.headers) expect(headers.get(key)).toBe(value);
    },
    ({ written }) => [
      written.payload.length > 1_000 ? 'deep payload' : 'payload',
      ...[...written.extra.keys(), ...written.headers.keys()].filter((key) => key.startsWith('_')),
    ],
    ['deep payload', 'payload', '__proto__'],
  );
});

describe('unreadable bodies', () => {
  const bodies = fc.oneof(
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }) },
    { weight: 2, arbitrary: anyTexts },
    { weight: 3, arbitrary: mutatedTexts(envelopeTexts) },
    { weight: 3, arbitrary: mutatedBytes(envelopeTexts) },
    { weight: 1, arbitrary: mutatedBytes(documentTexts) },
    {
      weight: 2,
      arbitrary: deliveries({ flaw: fc.constantFrom('no-id', 'deep-status') }).map(({ body }) => body),
    },
  );

  law(
    'decode never throws, and keeps an unreadable body complete',
    bodies,
    (body) => {
      const arrival = decode(body, originAt(ACTOR));
      expect(decode(body, originAt(ACTOR))).toEqual(arrival);
      expect(arrival.envelope.id).not.toBe('');
      const text = wellFormedText(body);
      const isJson = text !== undefined && parses(text);
      if (arrival.kind === 'readable') {
        expect(isJson).toBe(true);
        return;
      }
      expect(arrival.reason).toBe(isJson ? 'ValidationError' : 'ParseError');
      expect(arrival.problem).not.toBe('');
      const kept = JSON.parse(arrival.envelope.payload) as { raw?: string; raw_base64?: string };
      if (kept.raw_base64 !== undefined) {
        expect(text).toBeUndefined();
        expect([...Buffer.from(kept.raw_base64, 'base64')]).toEqual([...(body as Uint8Array)]);
      } else if (typeof body === 'string') {
        expect(kept.raw === body).toBe(true);
      } else {
        expect(Buffer.from(kept.raw ?? '', 'utf8').equals(body)).toBe(true);
      }
    },
    (body) => {
      const arrival = decode(body, originAt(ACTOR));
      if (arrival.kind === 'readable') return 'readable';
      const kind = typeof body === 'string' ? (body.isWellFormed() ? 'text' : 'lone surrogates') : 'bytes';
      return `${arrival.reason} of ${kind}${arrival.envelope.payload.startsWith('{"raw_') ? ' in base64' : ''}`;
    },
    [
      'readable',
      'ParseError of text',
      'ParseError of lone surrogates',
      'ParseError of bytes',
      'ParseError of bytes in base64',
      'ValidationError of text',
      'ValidationError of bytes',
    ],
  );

  law(
    'keeps a truncated envelope up to its last byte',
    fc.tuple(
      textsOfManyBytes,
      fc.oneof(fc.nat({ max: 1 << 20 }), fc.nat({ max: 1 << 20 }), fc.constantFrom(-1, -2)),
    ),
    ([text, place]) => {
      const bytes = cutAt(text, place);
      const arrival = decode(bytes, originAt(ACTOR));
      if (arrival.kind === 'readable') {
        expect(textOf(bytes).trimEnd()).toBe(text.trimEnd());
        return;
      }
      const { raw, raw_base64 } = JSON.parse(arrival.envelope.payload) as {
        raw?: string;
        raw_base64?: string;
      };
      const kept = raw === undefined ? Buffer.from(raw_base64 ?? '', 'base64') : Buffer.from(raw, 'utf8');
      expect(kept.equals(bytes)).toBe(true);
      expect(arrival.reason).toBe('ParseError');
    },
    ([text, place]) => {
      const { kind, envelope } = decode(cutAt(text, place), originAt(ACTOR));
      return kind === 'readable'
        ? 'whole'
        : envelope.payload.slice(2, 7) === 'raw_b'
          ? 'cut in a character'
          : 'cut';
    },
    ['cut', 'cut in a character', 'whole'],
  );

  law(
    'sends an invalid envelope to x-sink completely, with the right reason',
    deliveries({ isEnd: fc.constant(false), flaw: fc.oneof(fc.constant(undefined), flaws) }),
    (delivery) => {
      const { body, written } = delivery;
      const { arrival, plan } = processDelivery(delivery);
      expect(arrival.kind).toBe(written.flaw === undefined ? 'readable' : 'unreadable');
      if (written.flaw === undefined) return;
      const [sink, ...others] = plan.dispatches;
      expect(others).toEqual([]);
      const sent = parsed(sink?.body ?? '');
      expect(sent.payload).toEqual({ raw: textOf(body) });
      expect(sent.status).toMatchObject({
        phase: 'failed',
        reason: written.flaw === 'cut-short' ? 'ParseError' : 'ValidationError',
      });
      const isIdLost = ['no-id', 'empty-id', 'cut-short', 'not-object'].includes(written.flaw);
      if (isIdLost) expect(sent.id).toMatch(/^derived/);
      else expect(sent.id).toBe(written.id);
    },
    ({ written }) => written.flaw ?? 'none',
    ['none', ...FLAWS],
  );
});

function textOf(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
}

/** The text of a body, if it is UTF-8. */
function wellFormedText(body: string | Uint8Array): string | undefined {
  const text = textOf(body);
  if (typeof body === 'string') return text.isWellFormed() ? text : undefined;
  return Buffer.from(text, 'utf8').equals(body) ? text : undefined;
}

/** Negative values count from the end: -1 cuts nothing. */
function cutAt(text: string, place: number): Uint8Array {
  const bytes = Buffer.from(text, 'utf8');
  return new Uint8Array(
    bytes.subarray(0, (place < 0 ? bytes.length + 1 + place : place) % (bytes.length + 1)),
  );
}
