import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dynamoDbClient } from '../../../lib/adapters/dynamodb/dynamodb-client.ts';
import { ensureTable } from '../../../lib/adapters/dynamodb/table.ts';
import { deriveId } from '../../../lib/adapters/system/system.ts';
import type { Stores } from '../../../lib/assembly/from-config/crew-from-config.ts';
import { recordOf } from '../../../lib/core/failure/record.ts';
import type { RunFilter } from '../../../lib/ports/run-index.ts';
import { NOW } from '../../core/a-delivery.ts';
import { aFailed } from '../../core/an-end.ts';
import { type EmbeddedStores, startEmbeddedStores } from '../../support/embedded-stores.ts';

let embedded: EmbeddedStores;
let stores: Stores;
const COUNT = 120;
/** Every third one succeeded, and two end in the same millisecond. */
const atMs = (at: number) => NOW + Math.floor(at / 2) * 1000;

beforeAll(async () => {
  embedded = await startEmbeddedStores();
  stores = embedded.storesWith();
  for (let at = 0; at < COUNT; at++) {
    const failed = recordOf(
      aFailed({ id: `run-${at}`, headers: { 'x-asya-flow': `f-${at % 2}` } }),
      NOW,
      deriveId,
    );
    const end = at % 3 === 0 ? ({ end: 'succeeded', reason: 'Completed' } as const) : {};
    await stores.records.claim({ ...failed, ...end, atMs: atMs(at) });
  }
});
afterAll(() => embedded.close());

async function pagesOf(filter: RunFilter, limit: number, maxRead?: number) {
  const pages = [];
  let cursor: string | undefined;
  do {
    const page = await stores.runs.list(filter, {
      limit,
      ...(maxRead !== undefined && { maxRead }),
      ...(cursor !== undefined && { cursor }),
    });
    if (!page.ok) throw new Error(page.problem);
    pages.push(page);
    cursor = page.next;
  } while (cursor !== undefined);
  return pages;
}

describe('the run index', () => {
  it.each([1, 7, 50, 1000])('lists every end once, newest first, in pages of %d', async (limit) => {
    const pages = await pagesOf({}, limit);
    const records = pages.flatMap((page) => page.records);
    expect(pages.every((page) => page.records.length <= limit)).toBe(true);
    expect(new Set(records.map(({ envelopeId }) => envelopeId)).size).toBe(COUNT);
    expect(records).toHaveLength(COUNT);
    const times = records.map((record) => record.atMs);
    expect(times).toEqual([...times].sort((one, other) => other - one));
  });

  it('lists as many ends as were asked for, however large they are', async () => {
    const client = dynamoDbClient({ region: 'us-east-1', endpoint: embedded.dynamoDb.endpoint }, {});
    await ensureTable({ client, name: 'large' });
    client.destroy();
    const { records, runs } = embedded.storesWith({ table: 'large' });
    const headers = { 'x-asya-flow': 'f'.repeat(2_000) };
    const ends = Array.from({ length: 600 }, (_, at) =>
      recordOf(aFailed({ id: `large-${at}`, headers }), NOW, deriveId),
    );
    for (let at = 0; at < ends.length; at += 50)
      await Promise.all(ends.slice(at, at + 50).map((one) => records.claim(one)));
    const page = await runs.list({}, { limit: 600 });
    expect(page.ok && page.records.length).toBe(600);
  });

  it('does not contain failures, which are in the same index', async () => {
    const [failure] = await stores.failures.list({}).then((page) => (page.ok ? page.failures : []));
    expect(failure).toBeUndefined();
  });

  it.each([
    [{ end: 'succeeded' }, 40],
    [{ end: 'failed', flow: 'f-1' }, 40],
    [{ reason: 'Completed', actor: 'score' }, 40],
    [{ actor: 'fetch' }, 0],
    [{ idPrefix: 'run-11' }, 11],
    [{ idPrefix: 'run-119' }, 1],
    [{ sinceMs: NOW + 59_000 }, 2],
  ] as const)('filters by %j', async (filter, count) => {
    const records = (await pagesOf(filter, 9)).flatMap((page) => page.records);
    expect(records).toHaveLength(count);
  });

  it('stops after the given number of reads, reports how far it got, and continues from there', async () => {
    // The oldest one is not among the first eight times five.
    const first = await stores.runs.list({ idPrefix: 'run-0' }, { limit: 5, maxRead: 1 });
    expect(first).toMatchObject({ ok: true, records: [], searchedToMs: expect.any(Number) });
    const pages = await pagesOf({ end: 'failed' }, 40, 3);
    expect(pages.flatMap((page) => page.records)).toHaveLength(80);
    for (const [at, page] of pages.entries()) {
      if (page.searchedToMs === undefined) continue;
      const later = pages.slice(at + 1).flatMap((one) => one.records);
      expect(later.every((record) => record.atMs <= (page.searchedToMs ?? 0))).toBe(true);
    }
    expect(pages.some((page) => page.searchedToMs !== undefined)).toBe(true);
  });

  it.each(['', 'x', 'W10', Buffer.from('[1,2,3,4,5,6,7,8]').toString('base64url')])(
    'refuses the cursor %j',
    async (cursor) => {
      expect(await stores.runs.list({}, { limit: 1, cursor })).toEqual({
        ok: false,
        problem: 'the cursor is not valid',
      });
    },
  );

  it('returns an error of the table as a value', async () => {
    const { runs } = embedded.storesWith({ table: 'missing' });
    expect(await runs.list({}, { limit: 1 })).toMatchObject({ ok: false, problem: expect.any(String) });
  });
});
