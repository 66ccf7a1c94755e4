import { describe, expect, it } from 'vitest';
import { archiveWithBatches } from '../../../lib/app/crew/archive-with-batches.ts';
import { keyInBatch, textFromEntries } from '../../../lib/core/failure/archive-batch.ts';
import type { Archive } from '../../../lib/ports/archive.ts';
import { ACCEPTED } from '../../../lib/ports/reply.ts';

const BATCH = 'succeeded/2026-01-01/@batches/b-1.json';
const keyOf = (id: string) => keyInBatch(BATCH, `succeeded/2026-01-01/score/${id}.json`);

function anArchive(...down: readonly string[]) {
  const objects = new Map([
    [BATCH, textFromEntries(new Map([['succeeded/2026-01-01/score/e-1.json', '{"id":"e-1"}']]))],
    ['succeeded/2026-01-01/score/e-2.json', '{"id":"e-2"}'],
  ]);
  const refusal = { ok: false, problem: 'S3 is down' } as const;
  const plain: Archive = {
    put: async () => ACCEPTED,
    get: async (key) => (down.includes(key) ? refusal : { ok: true, text: objects.get(key) }),
    has: async (key) => (down.includes(key) ? refusal : { ok: true, exists: objects.has(key) }),
    remove: async (key) => {
      objects.delete(key);
      return ACCEPTED;
    },
  };
  return { archive: archiveWithBatches(plain), objects };
}

describe('an archive with batches', () => {
  it.each([
    ['an envelope in its batch', keyOf('e-1'), '{"id":"e-1"}'],
    ['one that is not in its batch, by its own key', keyOf('e-2'), '{"id":"e-2"}'],
    ['one with an object of its own', 'succeeded/2026-01-01/score/e-2.json', '{"id":"e-2"}'],
    ['nothing that was never stored', keyOf('e-3'), undefined],
    ['nothing of a batch that was never stored', keyInBatch('other', 'succeeded/e-3.json'), undefined],
  ])('finds %s', async (_what, key, text) => {
    const { archive } = anArchive();
    expect(await archive.get(key)).toEqual({ ok: true, text });
    expect(await archive.has(key)).toEqual({ ok: true, exists: text !== undefined });
  });

  it.each([
    ['the batch', BATCH],
    ['the own key', 'succeeded/2026-01-01/score/e-2.json'],
  ])('does not report an envelope as missing if %s cannot be read', async (_what, down) => {
    const { archive } = anArchive(down);
    for (const reply of [await archive.get(keyOf('e-2')), await archive.has(keyOf('e-2'))])
      expect(reply).toEqual({ ok: false, problem: 'S3 is down' });
  });

  it('does not remove an envelope from a batch', async () => {
    const { archive, objects } = anArchive();
    expect(await archive.remove(keyOf('e-1'))).toMatchObject({
      ok: false,
      problem: expect.stringContaining('cannot be removed alone'),
    });
    expect(await archive.remove('succeeded/2026-01-01/score/e-2.json')).toEqual(ACCEPTED);
    expect([...objects.keys()]).toEqual([BATCH]);
  });
});
