import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dynamoDbClient } from '../../../lib/adapters/dynamodb/dynamodb-client.ts';
import { getItem } from '../../../lib/adapters/dynamodb/table.ts';
import { deriveId } from '../../../lib/adapters/system/system.ts';
import { newestOfEach } from '../../../lib/app/replay/select-failures.ts';
import { type Failure, failureOf } from '../../../lib/core/failure/failure.ts';
import { recordOf } from '../../../lib/core/failure/record.ts';
import type { Cursor, FailureFilter, FailureIndex } from '../../../lib/ports/failure-index.ts';
import { NOW } from '../../core/a-delivery.ts';
import { A_FAILURE, aFailed } from '../../core/an-end.ts';
import { type EmbeddedStores, startEmbeddedStores } from '../../support/embedded-stores.ts';

let embedded: EmbeddedStores;
let index: FailureIndex;
beforeAll(async () => {
  embedded = await startEmbeddedStores();
  index = embedded.storesWith().failures;
});
afterAll(() => embedded.close());

let made = 0;
/** A failure of a new envelope, one second after the previous one. */
function aFailure(changes: Partial<Failure> = {}): Failure {
  const id = `e-${++made}`;
  return { ...failureOf(aFailed({ id }), NOW, deriveId), lastSeenMs: NOW + made * 1_000, ...changes };
}

async function entered(changes: Partial<Failure> = {}): Promise<Failure> {
  const failure = aFailure(changes);
  expect(await index.add(failure)).toEqual({ ok: true, isNew: true });
  return failure;
}

/** The failures of all pages, and the number of pages. */
async function listed(filter: FailureFilter): Promise<{ failures: Failure[]; pages: number }> {
  const failures: Failure[] = [];
  let cursor: Cursor | undefined;
  for (let pages = 1; ; pages++) {
    const page = await index.list(filter, cursor);
    if (!page.ok) throw new Error(page.problem);
    failures.push(...page.failures);
    cursor = page.next;
    if (cursor === undefined) return { failures, pages };
  }
}

const note = (replay: string, atMs = NOW) => ({ replay, atMs, to: 'score' });

async function replaysOf({ envelopeId }: Failure): Promise<readonly string[]> {
  const page = await index.ofEnvelope(envelopeId);
  return page.ok ? (page.failures[0]?.replays ?? []).map(({ replay }) => replay) : [];
}

describe('a failure', () => {
  it('is stored once; storing it again changes nothing', async () => {
    const failure = await entered({ flow: 'enhance', task: 't-1', replay: 'r-0', fingerprint: 'once' });
    const other = { ...failure, attempts: 99, errorMessage: 'other', lastSeenMs: NOW + 99_999_999 };
    expect(await index.add(other)).toEqual({ ok: true, isNew: false });
    expect(await index.list({ group: 'once' })).toEqual({ ok: true, failures: [failure] });
  });

  it('is new for one of twenty concurrent writers', async () => {
    const failure = aFailure();
    const entries = await Promise.all(Array.from({ length: 20 }, () => index.add(failure)));
    expect(entries.filter((entry) => entry.ok && entry.isNew)).toHaveLength(1);
  });

  it('keeps its replay notes when it is stored again', async () => {
    const failure = await entered();
    await index.recordReplay(failure.identity, note('r-1'), false);
    await index.add(failure);
    expect(await replaysOf(failure)).toEqual(['r-1']);
  });

  it('can be removed twice', async () => {
    const failure = await entered();
    for (let time = 0; time < 2; time++) expect(await index.remove(failure.identity)).toEqual({ ok: true });
    expect(await index.ofEnvelope(failure.envelopeId)).toEqual({ ok: true, failures: [] });
  });

  it('is stored with any number of attempts', async () => {
    const { envelopeId } = await entered({ attempts: 1e300 });
    const page = await index.ofEnvelope(envelopeId);
    expect(page.ok && page.failures[0]?.attempts).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('is stored with any text', async () => {
    const huge = 'x'.repeat(500_000);
    const half = '\ud800';
    for (const text of [huge, half, '']) {
      const changes = { actor: text, reason: text, errorType: text, errorMessage: text, task: text };
      await entered({ ...changes, flow: text, replay: text });
    }
    expect((await listed({ reason: half.toWellFormed() })).failures).toHaveLength(1);
  });
});

describe('an id that is too long for the table', () => {
  it('differs from another with the same start, and is found by its full and its shown form', async () => {
    const ids = ['x'.repeat(2_049), `${'x'.repeat(2_048)}y`, '\ud800', '\ud801'];
    const shown: string[] = [];
    for (const envelopeId of ids) {
      const { identity } = await entered({ envelopeId, fingerprint: 'not whole' });
      const page = await index.ofEnvelope(envelopeId);
      const [found, ...others] = page.ok ? page.failures : [];
      expect([found?.identity, others]).toEqual([identity, []]);
      expect(await index.ofEnvelope(found?.envelopeId ?? '')).toEqual(page);
      shown.push(found?.envelopeId ?? '');
    }
    expect(new Set(shown).size).toBe(ids.length);
    expect(newestOfEach((await listed({ group: 'not whole' })).failures)).toHaveLength(ids.length);
  });
});

describe('a list', () => {
  it('is newest first and filtered', async () => {
    const at = (seconds: number) => NOW + 1_000_000_000 + seconds * 1_000;
    const failures = [
      await entered({ lastSeenMs: at(2), fingerprint: 'g-1', actor: 'a-1', reason: 'Timeout' }),
      await entered({ lastSeenMs: at(4), fingerprint: 'g-2', actor: 'a-1', reason: 'Timeout', flow: 'f-1' }),
      await entered({ lastSeenMs: at(1), fingerprint: 'g-1', actor: 'a-2', reason: 'Escalated' }),
      await entered({
        lastSeenMs: at(3),
        fingerprint: 'g-1',
        actor: 'a-1',
        reason: 'Escalated',
        flow: 'f-1',
      }),
    ];
    const numbers = async (filter: FailureFilter) =>
      (await listed(filter)).failures.map(({ identity }) =>
        failures.findIndex((failure) => failure.identity === identity),
      );
    expect(await numbers({ sinceMs: at(0) })).toEqual([1, 3, 0, 2]);
    expect(await numbers({ sinceMs: at(3) })).toEqual([1, 3]);
    expect(await numbers({ sinceMs: at(3) + 1 })).toEqual([1]);
    expect(await numbers({ sinceMs: at(5) })).toEqual([]);
    expect(await numbers({ group: 'g-1' })).toEqual([3, 0, 2]);
    expect(await numbers({ group: 'g-1', sinceMs: at(2) })).toEqual([3, 0]);
    expect(await numbers({ group: 'g-1', actor: 'a-1', reason: 'Timeout' })).toEqual([0]);
    expect(await numbers({ actor: 'a-1', sinceMs: at(0) })).toEqual([1, 3, 0]);
    expect(await numbers({ reason: 'Escalated', sinceMs: at(0) })).toEqual([3, 2]);
    expect(await numbers({ flow: 'f-1', sinceMs: at(0) })).toEqual([1, 3]);
    expect(await numbers({ group: 'missing' })).toEqual([]);
  });

  it('is split into pages, with each failure on one of them', async () => {
    const long = 'm'.repeat(2_000);
    const texts = { errorMessage: long, errorType: long, flow: long, task: long, replay: long, reason: long };
    const many = Array.from({ length: 150 }, () => aFailure({ ...texts, fingerprint: 'many' }));
    for (let at = 0; at < many.length; at += 20) {
      const entries = await Promise.all(many.slice(at, at + 20).map((failure) => index.add(failure)));
      expect(entries.filter(({ ok }) => !ok)).toEqual([]);
    }
    const { failures, pages } = await listed({ group: 'many' });
    expect(pages).toBeGreaterThan(1);
    expect(failures.map(({ identity }) => identity)).toEqual(many.map(({ identity }) => identity).reverse());
  });

  it('of one envelope has all its failures, newest first, and nothing else', async () => {
    const id = 'failed-twice';
    const ends = ['', 'r-1'].map((replay, at) => {
      const headers = replay === '' ? {} : { 'x-asya-replay': replay };
      return { ...failureOf(aFailed({ id, headers }), NOW, deriveId), lastSeenMs: NOW + at };
    });
    for (const end of ends) await index.add(end);
    await embedded.stores.records.claim(recordOf(aFailed({ id }), NOW, deriveId));
    expect(await index.ofEnvelope(id)).toEqual({ ok: true, failures: ends.toReversed() });
    expect(await index.ofEnvelope('missing')).toEqual({ ok: true, failures: [] });
  });
});

describe('failures of an earlier version, in one partition per list,', () => {
  /** Stores the item as that version did. */
  async function makeOld({ identity, fingerprint }: Failure): Promise<void> {
    const { endpoint } = embedded.dynamoDb;
    const client = dynamoDbClient({ region: 'us-east-1', endpoint }, {});
    const table = { client, name: embedded.table };
    const { shard: _mark, group: _group, ...item } = (await getItem(table, `failure#${identity}`)) ?? {};
    const Item = { ...item, inbox: { S: 'failures' }, fingerprint: { S: fingerprint } };
    await client.send(new PutItemCommand({ TableName: table.name, Item }));
    client.destroy();
  }

  it('are listed among the others, with the same fields', async () => {
    const lastSeenMs = NOW + 2_000_000_000;
    const failures: Failure[] = [];
    for (let nth = 0; nth < 6; nth++) {
      const failure = await entered({ fingerprint: 'both', lastSeenMs: lastSeenMs + nth });
      if (nth % 2 === 0) await makeOld(failure);
      failures.unshift(failure);
    }
    expect((await listed({ group: 'both' })).failures).toEqual(failures);
    expect((await listed({ sinceMs: lastSeenMs })).failures).toEqual(failures);
    expect(await replaysOf(failures[1] as Failure)).toEqual([]);
    await index.recordReplay((failures[1] as Failure).identity, note('r-old'), false);
    expect(await replaysOf(failures[1] as Failure)).toEqual(['r-old']);
  });
});

describe('a cursor that is not one', () => {
  it.each(['', 'x', 'W10'])('is refused: %j', async (cursor) => {
    expect(await index.list({}, cursor)).toEqual({ ok: false, problem: 'the cursor is not valid' });
  });
});

describe('the note of a replay', () => {
  it('has its time and target, sorted by time', async () => {
    const failure = await entered();
    expect(await index.recordReplay(failure.identity, note('r-2', NOW + 2), false)).toEqual({ ok: true });
    expect(
      await index.recordReplay(failure.identity, { ...note('r-1', NOW + 1), to: 'other' }, true),
    ).toEqual({
      ok: true,
    });
    const page = await index.ofEnvelope(failure.envelopeId);
    expect(page.ok && page.failures[0]?.replays).toEqual([
      { replay: 'r-1', atMs: NOW + 1, to: 'other' },
      { replay: 'r-2', atMs: NOW + 2, to: 'score' },
    ]);
  });

  it('is rejected a second time, unless requested again', async () => {
    const failure = await entered();
    await index.recordReplay(failure.identity, note('r-1'), false);
    expect(await index.recordReplay(failure.identity, note('r-2'), false)).toEqual({
      ok: false,
      problem: 'it was replayed before',
      why: 'already-replayed',
    });
    expect(await index.recordReplay(failure.identity, note('r-2'), true)).toEqual({ ok: true });
    expect(await replaysOf(failure)).toEqual(['r-1', 'r-2']);
  });

  it('is stored once for twenty concurrent writers', async () => {
    const failure = await entered();
    const notes = await Promise.all(
      Array.from({ length: 20 }, (_, at) => index.recordReplay(failure.identity, note(`r-${at}`), false)),
    );
    expect(notes.filter(({ ok }) => ok)).toHaveLength(1);
    expect(notes.filter((reply) => 'why' in reply && reply.why === 'already-replayed')).toHaveLength(19);
    expect(await replaysOf(failure)).toHaveLength(1);
  });

  it('of the same replay can be written twice, as when the first answer was lost', async () => {
    const failure = await entered();
    for (let time = 0; time < 2; time++)
      expect(await index.recordReplay(failure.identity, note('r-1'), false)).toEqual({ ok: true });
    expect(await replaysOf(failure)).toEqual(['r-1']);
  });

  it('can be withdrawn, without the others', async () => {
    const failure = await entered();
    await index.recordReplay(failure.identity, note('r-1'), false);
    await index.recordReplay(failure.identity, note('r-2', NOW + 1), true);
    for (let time = 0; time < 2; time++)
      expect(await index.removeReplay(failure.identity, 'r-2')).toEqual({ ok: true });
    expect(await replaysOf(failure)).toEqual(['r-1']);
    await index.removeReplay(failure.identity, 'r-1');
    expect(await index.recordReplay(failure.identity, note('r-3'), false)).toEqual({ ok: true });
  });

  it('is rejected for a removed failure, which stays removed', async () => {
    for (const again of [false, true]) {
      const reply = await index.recordReplay('gone', note('r-1'), again);
      expect(reply).toEqual({ ok: false, problem: 'it was removed from the failure index', why: 'gone' });
    }
    expect(await index.removeReplay('gone', 'r-1')).toEqual({ ok: true });
    expect((await listed({ sinceMs: 0 })).failures.map(({ identity }) => identity)).not.toContain('gone');
  });
});

describe('a refused call returns a message', () => {
  const callAll = (target: FailureIndex) =>
    Promise.all([
      target.add(aFailure()),
      target.list({}),
      target.list({ group: 'g', actor: 'a', sinceMs: NOW }),
      target.ofEnvelope('e-1'),
      target.recordReplay('identity', note('r-1'), false),
      target.removeReplay('identity', 'r-1'),
      target.remove('identity'),
    ]);

  it('if the table is missing', async () => {
    const { failures } = embedded.storesWith({ table: 'no-such-table' });
    for (const reply of await callAll(failures)) {
      expect(reply).toEqual({ ok: false, problem: expect.stringContaining('ResourceNotFoundException') });
    }
  });

  it('if the store is down; it works again once the store is back', async () => {
    await embedded.dynamoDb.goDown();
    try {
      for (const reply of await callAll(index)) {
        expect(reply).toEqual({ ok: false, problem: expect.stringContaining('table "failures"') });
      }
    } finally {
      await embedded.dynamoDb.recover();
    }
    await entered({ reason: A_FAILURE.reason });
  });
});
