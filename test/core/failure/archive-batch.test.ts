import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveId } from '../../../lib/adapters/system/system.ts';
import {
  batchKeyFor,
  entryFromText,
  keyInBatch,
  placeFromKey,
  textFromEntries,
} from '../../../lib/core/failure/archive-batch.ts';
import { recordOf } from '../../../lib/core/failure/record.ts';
import { NOW } from '../a-delivery.ts';
import { A_FAILURE, aFailed } from '../an-end.ts';

/** Text that is special in a key, in JSON or in a URL. */
const name = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.constantFrom('@batches', 'a#b', 'a/b', '..', '"', '%23'),
);

describe('an archive key', () => {
  it('is that of an object, or that of an entry and its batch, whatever the names are', () => {
    fc.assert(
      fc.property(name, name, name, (id, actor, replay) => {
        const headers = { 'x-asya-replay': replay };
        const envelope = aFailed({ id, headers, status: { ...A_FAILURE, actor } });
        const { archiveKey, alternativeKey } = recordOf(envelope, NOW, deriveId);
        for (const key of [archiveKey, alternativeKey]) {
          expect(placeFromKey(key)).toEqual({ key });
          const batch = batchKeyFor(key, 'b-1');
          expect(batch).toBe('failed/2026-01-01/@batches/b-1.json');
          expect(key.startsWith('failed/2026-01-01/@batches/')).toBe(false);
          expect(placeFromKey(keyInBatch(batch, key))).toEqual({ batch, key });
        }
      }),
    );
  });
});

describe('a batch', () => {
  it('contains each envelope byte for byte, and nothing else', () => {
    const text = fc.oneof(
      fc.json(),
      fc.constantFrom('{"n":9007199254740993,"a":1.10,"a":2}', '{\n  "u": "\\u0041"\n}', '[ ]', '"#"'),
    );
    fc.assert(
      fc.property(fc.dictionary(name, text, { noNullPrototype: true }), name, (entries, missing) => {
        const batch = textFromEntries(new Map(Object.entries(entries)));
        expect(Object.keys(JSON.parse(batch)).toSorted()).toEqual(Object.keys(entries).toSorted());
        for (const [key, value] of Object.entries(entries))
          expect(entryFromText(batch, key)).toBe(value.trim());
        if (!Object.hasOwn(entries, missing)) expect(entryFromText(batch, missing)).toBeUndefined();
      }),
    );
  });

  it.each(['', 'not JSON', '[1]', '{"a":'])('that is %j contains nothing', (batch) => {
    expect(entryFromText(batch, 'a')).toBeUndefined();
  });
});
