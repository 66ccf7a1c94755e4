import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encode } from '../../../lib/core/envelope/encode.ts';
import { readPatch } from '../../../lib/core/text/json-patch.ts';
import { aScene, envelopeOf, ids, type Scene } from '../../replay/a-replay.ts';
import { type Engines, startEngines } from '../../replay/engines.ts';

/** What a replay sends and what it records, with embedded S3 and DynamoDB. */

let engines: Engines;
beforeAll(async () => {
  engines = await startEngines();
});
afterAll(() => engines.close());

async function aMesh(): Promise<Scene> {
  return aScene((await engines.freshTable()).stores);
}

function patchOf(text: string) {
  const reading = readPatch(text);
  if ('problem' in reading) throw new Error(reading.problem);
  return reading.patch;
}

const envelopeIds = (failures: readonly { readonly envelopeId: string }[]) =>
  failures.map(({ envelopeId }) => envelopeId);

describe('the envelope sent', () => {
  it('is a first attempt at the failed actor, with its payload and route, and the id of the replay', async () => {
    const scene = await aMesh();
    await scene.fail(['e-1'], {
      parent_id: 'p-1',
      headers: {
        traceparent: '00-1-2-01',
        'x-asya-not-before': '2026-01-01T00:00:00Z',
        'x-asya-replay': 'r-old',
      },
      custom: [1],
    });
    await scene.replay(await scene.select(), { replay: 'r-new' });
    const [sent] = scene.sent;
    expect(sent?.to).toBe('score');
    expect(sent?.envelope).toEqual({
      id: 'e-1',
      parent_id: 'p-1',
      route: { prev: ['fetch'], curr: 'score', next: ['store'] },
      headers: { traceparent: '00-1-2-01', 'x-asya-replay': 'r-new' },
      payload: { n: 1, secret: 'payload of e-1' },
      custom: [1],
    });
  });

  it('has a new deadline from the timeout, or none', async () => {
    const scene = await aMesh();
    await scene.fail(['e-1'], { headers: { 'x-asya-flow': 'quick' } });
    await scene.fail(['e-2'], { headers: { 'x-asya-flow': 'slow' } });
    const timeoutMsOf = ({ flow }: { readonly flow?: string }) => (flow === 'quick' ? 60_000 : undefined);
    await scene.replay(await scene.select(), { timeoutMsOf }, { noRamp: true });
    const statuses = new Map(scene.sent.map(({ envelope }) => [envelope.id, envelope.status]));
    const sentAt = scene.sent.find(({ envelope }) => envelope.id === 'e-1')?.atMs ?? 0;
    expect(statuses.get('e-1')).toEqual({
      deadline_at: new Date(sentAt + 60_000).toISOString().replace(/\.?0*Z$/, 'Z'),
    });
    expect(statuses.get('e-2')).toBeUndefined();
  });

  it('goes to another actor with `to`', async () => {
    const scene = await aMesh();
    await scene.fail(['e-1']);
    await scene.replay(await scene.select(), { to: 'score-v2' });
    expect(scene.sent[0]).toMatchObject({
      to: 'score-v2',
      envelope: { route: { curr: 'score-v2', next: ['store'] } },
    });
    expect((await scene.entriesOf('e-1'))[0]?.replays).toMatchObject([{ to: 'score-v2' }]);
  });

  it('is patched without changing numbers, and the archived envelope is unchanged', async () => {
    const scene = await aMesh();
    const body = encode(
      envelopeOf(
        '{"id":"e-1","route":{"prev":[],"curr":"score","next":[]},"payload":{"big":12345678901234567890,"n":1}}',
      ),
    );
    await scene.endAs(body, 'score', 'failed');
    const [failure] = await scene.select();
    const before = await scene.stores.archive.get(failure?.archiveKey ?? '');
    await scene.replay(await scene.select(), { patch: patchOf('[{"op":"replace","path":"/n","value":2}]') });
    expect(scene.sent[0]?.body).toContain('"payload":{"big":12345678901234567890,"n":2}');
    expect(await scene.stores.archive.get(failure?.archiveKey ?? '')).toEqual(before);
    expect(before).toMatchObject({ ok: true, text: expect.stringContaining('"n":1') });
  });

  it('is skipped if the patch does not apply; the others are sent', async () => {
    const scene = await aMesh();
    await scene.fail(['e-1', 'e-2']);
    await scene.fail(['e-3'], { payload: { m: 1 } });
    const end = await scene.replay(await scene.select(), {
      patch: patchOf('[{"op":"replace","path":"/n","value":2}]'),
    });
    expect(envelopeIds(end.sent)).toEqual(['e-2', 'e-1']);
    expect(end.skipped).toMatchObject([
      { failure: { envelopeId: 'e-3' }, problem: expect.stringContaining('"/n"') },
    ]);
    expect((await scene.entriesOf('e-3'))[0]?.replays).toEqual([]);
  });

  it('is skipped if it is not archived, unreadable, or too large', async () => {
    const scene = await aMesh();
    await scene.fail(['lost', 'broken', 'long']);
    const { archive } = scene.stores;
    await archive.remove((await scene.entriesOf('lost'))[0]?.archiveKey ?? '');
    await archive.put((await scene.entriesOf('broken'))[0]?.archiveKey ?? '', 'no envelope');
    const end = await scene.replay(await scene.select(), { maxBodyBytes: 100 });
    expect(end).toMatchObject({ why: 'all-sent', sent: [] });
    const problems = new Map(end.skipped.map(({ failure, problem }) => [failure.envelopeId, problem]));
    expect(problems.get('lost')).toMatch(/^the archive no longer contains "failed\/.*lost\.json"$/);
    expect(problems.get('broken')).toMatch(/cannot be read: the body is not JSON/);
    expect(problems.get('long')).toMatch(/^the envelope has \d+ bytes; the broker accepts at most 100$/);
    for (const id of ['lost', 'broken', 'long']) expect((await scene.entriesOf(id))[0]?.replays).toEqual([]);
  });
});

describe('sent once', () => {
  it('skips failures replayed before, unless `again` is set', async () => {
    const scene = await aMesh();
    await scene.fail(ids(3));
    const first = await scene.replay(await scene.select(), { replay: 'r-a' });
    expect(first.sent).toHaveLength(3);
    const second = await scene.replay(await scene.select());
    expect(second).toMatchObject({ why: 'all-sent', sent: [] });
    expect(second.skipped).toHaveLength(3);
    expect(second.skipped[0]).toMatchObject({
      problem: 'it was replayed before (r-a)',
      isReplayedBefore: true,
    });
    const third = await scene.replay(await scene.select(), { replay: 'r-c', again: true });
    expect(third.sent).toHaveLength(3);
    expect(scene.sent).toHaveLength(6);
    const [{ replays } = { replays: [] }] = await scene.entriesOf('e-1');
    expect(replays.map(({ replay }) => replay)).toEqual(['r-a', 'r-c']);
  });

  it('sends each envelope once if two operators replay at the same time', async () => {
    const scene = await aMesh();
    await scene.fail(ids(14));
    // Both read the group before either sends.
    const [one, other] = [await scene.select(), await scene.select()];
    const ends = await Promise.all([
      scene.replay(one, { replay: 'r-one' }),
      scene.replay(other, { replay: 'r-other' }),
    ]);
    expect(scene.sentIds().toSorted()).toEqual([...ids(14)].toSorted());
    expect((ends[0]?.sent.length ?? 0) + (ends[1]?.sent.length ?? 0)).toBe(14);
    for (const { why, skipped, sent } of ends) {
      expect(why).toBe('all-sent');
      expect(sent.length + skipped.length).toBe(14);
      for (const one of skipped) expect(one.isReplayedBefore).toBe(true);
    }
  });

  it('does not send failures added after the selection was read', async () => {
    const scene = await aMesh();
    await scene.fail(ids(4));
    const failures = await scene.select();
    const onSend = async () => {
      if (scene.sent.length === 1) await scene.fail(ids(3, 'late'));
    };
    const end = await scene.replay(failures, {}, { onSend });
    expect(end.why).toBe('all-sent');
    expect(scene.sentIds().toSorted()).toEqual([...ids(4)].toSorted());
    expect(await scene.select()).toHaveLength(7);
  });

  it('includes failures dated later than the local clock', async () => {
    const scene = await aMesh();
    await scene.fail(['e-1']);
    const ahead = new Date(Date.now() + 86_400_000).toISOString();
    await scene.fail(['e-2'], { status: { updated_at: ahead } });
    expect(envelopeIds(await scene.select()).toSorted()).toEqual(['e-1', 'e-2']);
  });

  it('sends an envelope that failed twice once, in the state of its last failure', async () => {
    const scene = await aMesh();
    await scene.fail(['e-1']);
    await scene.fail(['e-1'], {
      route: { prev: ['fetch', 'score'], curr: 'store', next: [] },
      status: { actor: 'store' },
    });
    expect(await scene.entriesOf('e-1')).toHaveLength(2);
    const end = await scene.replay(await scene.select());
    expect(end.sent).toHaveLength(1);
    expect(scene.sent).toMatchObject([{ to: 'store', envelope: { route: { curr: 'store' } } }]);
  });

  it('skips a failure that was purged meanwhile, and sends the others', async () => {
    const scene = await aMesh();
    await scene.fail(ids(3));
    const failures = await scene.select();
    await scene.stores.failures.remove(failures[1]?.identity ?? '');
    const end = await scene.replay(failures);
    expect(end).toMatchObject({
      why: 'all-sent',
      skipped: [{ problem: 'it was removed from the failure index' }],
    });
    expect(end.sent).toHaveLength(2);
  });
});

describe('the records', () => {
  it('a repeated failure is a new record in the same group; the first one lists the replay', async () => {
    const scene = await aMesh();
    await scene.fail(['e-1']);
    const [first] = await scene.entriesOf('e-1');
    const end = await scene.replay(
      await scene.select(),
      { replay: 'r-1' },
      { fate: () => ({ end: 'failed' }) },
    );
    expect(end.why).toBe('failed-again');
    const [second, original, ...more] = await scene.entriesOf('e-1');
    expect(more).toEqual([]);
    expect(original).toEqual({
      ...first,
      replays: [{ replay: 'r-1', atMs: scene.sent[0]?.atMs, to: 'score', end: 'failed' }],
    });
    expect(second).toMatchObject({ replay: 'r-1', replays: [], fingerprint: first?.fingerprint });
    expect(second?.archiveKey).not.toBe(first?.archiveKey);
    for (const key of [first?.archiveKey, second?.archiveKey]) {
      expect(await scene.stores.archive.has(key ?? '')).toEqual({ ok: true, exists: true });
    }
    const records = await scene.stores.records.ofEnvelope('e-1');
    expect(records).toMatchObject({ ok: true });
    // It is another failure, so it can be replayed without `again`.
    const next = await scene.replay(await scene.select(), { replay: 'r-2' });
    expect(next).toMatchObject({ why: 'all-sent', skipped: [] });
    expect(scene.sent.at(-1)?.envelope.headers).toMatchObject({ 'x-asya-replay': 'r-2' });
  });

  it('is selected by group, actor, reason, flow and time', async () => {
    const scene = await aMesh();
    await scene.fail(ids(2, 'a'));
    await scene.fail(ids(2, 'b'), {
      status: { actor: 'store', reason: 'Timeout' },
      headers: { 'x-asya-flow': 'other' },
    });
    const newest = scene.clock.now();
    const chosen = async (filter: Parameters<Scene['select']>[0]) =>
      envelopeIds(await scene.select(filter)).toSorted();
    const group = (await scene.entriesOf('b-0'))[0]?.fingerprint ?? '';
    expect(await chosen({ filter: { group } })).toEqual(['b-0', 'b-1']);
    expect(await chosen({ filter: { actor: 'score' } })).toEqual(['a-0', 'a-1']);
    expect(await chosen({ filter: { reason: 'Timeout' } })).toEqual(['b-0', 'b-1']);
    expect(await chosen({ filter: { flow: 'scores' } })).toEqual(['a-0', 'a-1']);
    expect(await chosen({ filter: { sinceMs: newest } })).toEqual(['b-1']);
    expect(await chosen({ filter: { actor: 'score', reason: 'Timeout' } })).toEqual([]);
    expect(await chosen({ envelopeIds: ['b-1', 'a-0', 'b-1'] })).toEqual(['a-0', 'b-1']);
  });
});

describe('dead letters of the crew', () => {
  /** An envelope that x-sink could not archive, with its end. */
  const deadLetter = (before: object) => ({
    route: { prev: ['fetch', 'score'], curr: '', next: [] },
    status: {
      actor: 'x-sink',
      reason: 'DeliveryExhausted',
      error: { type: 'DeliveryExhausted', mro: [], message: 'received again and again', traceback: '' },
      before,
    },
  });
  const LONG_AGO = '2025-11-01T00:00:00Z';

  it.each(['succeeded', 'failed'] as const)(
    'records an end "%s", which is not a repeated failure',
    async (phase) => {
      const scene = await aMesh();
      const reason = phase === 'failed' ? 'RuntimeError' : 'Completed';
      // Each ended a month later than the previous one; the replay sends the last one first.
      for (const [month, id] of ids(12).entries()) {
        const endedAt = new Date(Date.UTC(2025, month)).toISOString();
        await scene.fail([id], deadLetter({ phase, reason, actor: 'score', updated_at: endedAt }));
      }
      const recordSameEnd = async (body: string) => scene.end(envelopeOf(body));
      const end = await scene.replay(
        await scene.select(),
        {},
        { fate: () => 'none', onSend: ({ body }) => scene.clock.after(50, () => recordSameEnd(body)) },
      );
      expect(end).toMatchObject({ why: 'all-sent', failedAgain: [], left: [] });
      expect(end.endedWell).toHaveLength(12);
      expect(scene.sent[0]).toMatchObject({
        to: 'x-sink',
        envelope: { route: { curr: '' }, status: { phase, updated_at: '2025-12-01T00:00:00.000Z' } },
      });
    },
  );

  it("can fail again when sent to a user's actor", async () => {
    const scene = await aMesh();
    await scene.fail(ids(12), deadLetter({ phase: 'succeeded', actor: 'score', updated_at: LONG_AGO }));
    const end = await scene.replay(
      await scene.select(),
      { to: 'score' },
      { fate: () => ({ end: 'failed' }) },
    );
    expect(end.why).toBe('failed-again');
    expect(end.sent).toHaveLength(1);
  });
});
