import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dynamoDbClient } from '../../../lib/adapters/dynamodb/dynamodb-client.ts';
import { itemFromRecord } from '../../../lib/adapters/dynamodb/end-record-item.ts';
import { putNew, queryAll, type Table, text, textOf } from '../../../lib/adapters/dynamodb/table.ts';
import { deriveId } from '../../../lib/adapters/system/system.ts';
import {
  type ArchivedRecord,
  type EndRecord,
  type NewRecord,
  recordOf,
  withoutArchive,
} from '../../../lib/core/failure/record.ts';
import type { EndRecords } from '../../../lib/ports/end-records.ts';
import { NOW } from '../../core/a-delivery.ts';
import { A_FAILURE, aFailed } from '../../core/an-end.ts';
import { type EmbeddedStores, startEmbeddedStores } from '../../support/embedded-stores.ts';

let embedded: EmbeddedStores;
let records: EndRecords;
beforeAll(async () => {
  embedded = await startEmbeddedStores();
  ({ records } = embedded.storesWith());
});
afterAll(() => embedded.close());

type Fields = Readonly<Record<string, unknown>>;

const recordFor = (changes: Fields): ArchivedRecord => recordOf(aFailed(changes), NOW, deriveId);
const storedRecord = ({ place: _place, alternativeKey: _alternativeKey, ...record }: NewRecord): EndRecord =>
  record;
const atHop = (hop: number) => ({ route: { prev: Array(hop).fill('fetch'), curr: 'score', next: [] } });
const replayed = (replay: string) => ({ headers: { 'x-asya-replay': replay } });

describe('a claim', () => {
  it('is first once; later claims get the first key', async () => {
    const record = recordFor({ id: 'once' });
    const later = { ...record, archiveKey: 'failed/2026-01-02/score/once.json', atMs: NOW + 86_400_000 };
    expect(await records.claim(record)).toEqual({ ok: true, isFirst: true, archiveKey: record.archiveKey });
    for (const again of [record, later, later]) {
      expect(await records.claim(again)).toEqual({ ok: true, isFirst: false, archiveKey: record.archiveKey });
    }
    expect(await records.find(record)).toEqual({ ok: true, record: storedRecord(record) });
  });

  it('for another hop gets its own key, in either order', async () => {
    const hops = [1, 0, 2].map((hop) => recordFor({ id: 'hops', ...atHop(hop) }));
    const keys = ['hops', 'hops@0', 'hops@2'].map((name) => `failed/2026-01-01/score/${name}.json`);
    expect(new Set(hops.map(({ archiveKey }) => archiveKey))).toEqual(new Set([keys[0]]));
    for (const isFirst of [true, false]) {
      for (const [at, record] of hops.entries()) {
        expect(await records.claim(record)).toEqual({ ok: true, isFirst, archiveKey: keys[at] });
        expect(await records.find(record)).toEqual({
          ok: true,
          record: { ...storedRecord(record), archiveKey: keys[at] },
        });
      }
    }
    const ends = await records.ofEnvelope('hops');
    expect(ends.ok && new Set(ends.records.map(({ archiveKey }) => archiveKey))).toEqual(new Set(keys));
  });

  it('finds a later end of an envelope that is reported again after midnight', async () => {
    const [first, other] = [recordFor({ id: 'midnight' }), recordFor({ id: 'midnight', ...atHop(0) })];
    const again = recordFor({
      id: 'midnight',
      ...atHop(0),
      status: { ...A_FAILURE, updated_at: '2026-01-02T00:00:01Z' },
    });
    await records.claim(first);
    const archiveKey = 'failed/2026-01-01/score/midnight@0.json';
    expect(await records.claim(other)).toEqual({ ok: true, isFirst: true, archiveKey });
    expect(await records.claim(again)).toEqual({ ok: true, isFirst: false, archiveKey });
    const ends = await records.ofEnvelope('midnight');
    expect(ends.ok && ends.records).toHaveLength(2);
  });

  it('for another hop gets its own key, even if the actor is too long for the table', async () => {
    const status = { ...A_FAILURE, actor: 'a'.repeat(5_000) };
    const [one, other] = [0, 1].map((hop) => recordFor({ id: 'long-actor', status, ...atHop(hop) }));
    const claims = [await records.claim(one as NewRecord), await records.claim(other as NewRecord)];
    expect(new Set(claims.map((claim) => claim.ok && claim.archiveKey)).size).toBe(2);
  });

  it('for each of eight concurrent hops gets its own key, and one of them the plain key', async () => {
    const hops = Array.from({ length: 8 }, (_, hop) => recordFor({ id: 'crowd', ...atHop(hop) }));
    const claims = await Promise.all(hops.map((record) => records.claim(record)));
    const keys = claims.map((claim) => claim.ok && claim.isFirst && claim.archiveKey);
    expect(new Set(keys).size).toBe(8);
    expect(keys).toContain('failed/2026-01-01/score/crowd.json');
  });

  it('is first once of twenty concurrent ones, and all get the same key', async () => {
    const record = recordFor({ id: 'contended' });
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, at) => records.claim({ ...record, archiveKey: `key-${at}` })),
    );
    const first = claims.filter((claim) => claim.ok && claim.isFirst);
    expect(first).toHaveLength(1);
    expect(new Set(claims.map((claim) => claim.ok && claim.archiveKey)).size).toBe(1);
  });

  it.each<[string, Fields]>([
    ['an id of half a megabyte', { id: `long-${'n'.repeat(500_000)}` }],
    ['an unpaired surrogate', { id: 'half-\ud800', status: { ...A_FAILURE, actor: '\udc00' } }],
    ['a reason of half a megabyte', { id: 'r', status: { ...A_FAILURE, reason: 'r'.repeat(500_000) } }],
    ['an actor of half a megabyte', { id: 'a', status: { ...A_FAILURE, actor: 'a'.repeat(500_000) } }],
    ['a replay id too long for an index', { id: 'rep', ...replayed('r'.repeat(5_000)) }],
    ['an empty replay id', { id: 'none', ...replayed('') }],
    ['a time in year 1', { id: 't', status: { ...A_FAILURE, updated_at: '0001-01-01T00:00:00Z' } }],
  ])('is possible with %s', async (_what, changes) => {
    const record = recordFor(changes);
    expect(await records.claim(record)).toMatchObject({ ok: true, isFirst: true });
    expect(await records.claim(record)).toMatchObject({ ok: true, isFirst: false });
    const ends = await records.ofEnvelope(record.envelopeId);
    expect(ends.ok && ends.records.map(({ archiveKey }) => archiveKey)).toEqual([record.archiveKey]);
  });
});

describe('a record', () => {
  it('is found by its identity only', async () => {
    const record = recordFor({ id: 'found', ...replayed('r-found') });
    expect(await records.find(record)).toEqual({ ok: true, record: undefined });
    await records.claim(record);
    expect(await records.find(record)).toEqual({ ok: true, record: storedRecord(record) });
    const elsewhere = recordFor({ id: 'found', ...replayed('r-found'), ...atHop(4) });
    expect(await records.find(elsewhere)).toEqual({ ok: true, record: undefined });
  });

  it('is found by its envelope, with all ends, newest first', async () => {
    const ends = ['', 'r-1', 'r-2'].map((replay, at) => ({
      ...recordFor({ id: 'thrice', ...(replay && replayed(replay)) }),
      atMs: NOW + at,
    }));
    for (const end of ends) await records.claim(end);
    await records.claim(recordFor({ id: 'thrice-not' }));
    expect(await records.ofEnvelope('thrice')).toEqual({
      ok: true,
      records: ends.toReversed().map(storedRecord),
    });
  });

  it('is found by its replay, children included', async () => {
    const ids = ['parent', 'child-1', 'child-2'];
    for (const id of ids) await records.claim(recordFor({ id, ...replayed('r-all') }));
    await records.claim(recordFor({ id: 'parent', ...replayed('r-other') }));
    const ends = await records.ofReplay('r-all', 0);
    expect(ends.ok && ends.records.map(({ envelopeId }) => envelopeId).sort()).toEqual(ids.toSorted());
    expect(await records.ofReplay('r-none', 0)).toEqual({ ok: true, records: [] });
  });

  it('is found on any page', async () => {
    const long = 'n'.repeat(2_000);
    const many = Array.from({ length: 200 }, (_, at) => ({
      ...recordFor({ id: `page-${at}`, ...replayed('r-pages') }),
      actor: long,
      reason: long,
      archiveKey: long,
    }));
    for (let at = 0; at < many.length; at += 20) {
      const claims = await Promise.all(many.slice(at, at + 20).map((record) => records.claim(record)));
      expect(claims.filter(({ ok }) => !ok)).toEqual([]);
    }
    const ends = await records.ofReplay('r-pages', 0);
    expect(ends.ok && new Set(ends.records.map(({ identity }) => identity)).size).toBe(many.length);
  });
});

describe('the index by-envelope', () => {
  let client: DynamoDBClient;
  let table: Table;
  beforeAll(() => {
    client = dynamoDbClient({ region: 'us-east-1', endpoint: embedded.dynamoDb.endpoint }, {});
    table = { client, name: embedded.table };
  });
  afterAll(() => client.destroy());

  const indexed = async (id: string) =>
    (await queryAll(table, { index: 'by-envelope', value: id })).map((item) => textOf(item, 'identity'));

  it('does not contain the first end of an envelope, which saves a write', async () => {
    const first = recordFor({ id: 'cheap' });
    await records.claim(first);
    expect(await indexed('cheap')).toEqual([]);
    const others = [recordFor({ id: 'cheap', ...atHop(7) }), recordFor({ id: 'cheap', ...replayed('r-1') })];
    for (const other of others) await records.claim(other);
    expect(new Set(await indexed('cheap'))).toEqual(new Set(others.map(({ identity }) => identity)));
    const ends = await records.ofEnvelope('cheap');
    expect(ends.ok && ends.records).toHaveLength(3);
  });

  it('contains all ends that earlier versions recorded, and these are still found', async () => {
    const { place, alternativeKey, ...record } = recordFor({ id: 'old' });
    await putNew(table, { pk: text(`record#${place}`), ...itemFromRecord(record, deriveId) });
    expect(await records.find({ ...record, place, alternativeKey })).toEqual({ ok: true, record });
    expect(await records.ofEnvelope('old')).toEqual({ ok: true, records: [record] });
    await records.claim({ ...record, place, alternativeKey });
    expect(await records.ofEnvelope('old')).toEqual({ ok: true, records: [record] });
  });
});

describe('a record of an envelope that is not archived', () => {
  it('has no archive key, and contains the fan-outs', async () => {
    const fanOuts = [{ actor: 'split', hop: 1, items: 3 }];
    const record = withoutArchive(recordOf(aFailed({ id: 'bare' }), NOW, deriveId), fanOuts);
    for (const isFirst of [true, false]) expect(await records.claim(record)).toEqual({ ok: true, isFirst });
    const ends = await records.ofEnvelope('bare');
    expect(ends.ok && ends.records).toEqual([storedRecord(record)]);
  });
});

describe('a refused call returns a message', () => {
  const refused = { ok: false, problem: expect.stringContaining('table "') };
  const callAll = (target: EndRecords) =>
    Promise.all([
      target.claim(recordFor({ id: 'refused' })),
      target.find(recordFor({ id: 'refused' })),
      target.ofEnvelope('refused'),
      target.ofReplay('r-1', 0),
    ]);

  it('if the table is missing', async () => {
    const { records: nowhere } = embedded.storesWith({ table: 'no-such-table' });
    for (const reply of await callAll(nowhere)) {
      expect(reply).toEqual({ ...refused, problem: expect.stringContaining('ResourceNotFoundException') });
    }
  });

  it('if the store is down; it works again once the store is back', async () => {
    await embedded.dynamoDb.goDown();
    try {
      for (const reply of await callAll(records)) expect(reply).toEqual(refused);
    } finally {
      await embedded.dynamoDb.recover();
    }
    expect(await records.claim(recordFor({ id: 'refused' }))).toMatchObject({ ok: true, isFirst: true });
  });
});
