import { describe, expect, it } from 'vitest';
import { decode } from '../../../lib/core/envelope/decode.ts';
import { childIdsOf, fanOutsOf } from '../../../lib/core/envelope/fan-out.ts';
import { anEnvelope, deriveId, handle, ORIGIN, valueEnd } from '../a-delivery.ts';

const envelopeOf = (received: unknown) => decode(JSON.stringify(received), ORIGIN).envelope;

describe('the fan-outs of an envelope', () => {
  it('are listed in the status of item 0, and give the ids of all children', () => {
    const { sends } = handle(anEnvelope(), valueEnd('zero', 'one', 'two'));
    const [root, ...children] = sends.map(({ envelope }) => envelope);
    expect(fanOutsOf(envelopeOf(root))).toEqual([{ actor: 'score', hop: 1, items: 3 }]);
    expect(childIdsOf(envelopeOf(root), deriveId)).toEqual(children.map(({ id }) => id));
    for (const child of children) expect(fanOutsOf(envelopeOf(child))).toEqual([]);
  });

  it('are not inherited: a child lists its own only', () => {
    const status = { fan_out: [{ actor: 'split', hop: 0, items: 4 }] };
    const { sends } = handle(anEnvelope({ status }), valueEnd('zero', 'one'));
    expect(sends.map(({ envelope }) => fanOutsOf(envelopeOf(envelope)).length)).toEqual([2, 0]);
  });

  it('stay the same if a handler returns one value', () => {
    const status = { fan_out: [{ actor: 'split', hop: 0, items: 4 }] };
    const { sent } = handle(anEnvelope({ status }), valueEnd('one'));
    expect(fanOutsOf(envelopeOf(sent))).toEqual(status.fan_out);
    expect(handle(anEnvelope(), valueEnd('one')).sent.status).not.toHaveProperty('fan_out');
  });

  it.each([7, [7], [{}], [{ actor: 'a', hop: 0 }], [{ actor: 'a', hop: 0, items: 1e12 }]])(
    'are none if the status contains %j',
    (fan_out) => {
      expect(childIdsOf(envelopeOf(anEnvelope({ status: { fan_out } })), deriveId)).toEqual([]);
    },
  );
});
