import { describe, expect, it } from 'vitest';
import type { ReplayEnd, ReplayProgress } from '../../../lib/app/replay/replay.ts';
import type { FailureIndex } from '../../../lib/ports/failure-index.ts';
import { ACCEPTED, type Reply } from '../../../lib/ports/reply.ts';
import { aScene, type Fate, ids, type Scene } from '../../replay/a-replay.ts';
import { type MemoryStores, memoryStores } from '../../replay/memory-stores.ts';

/** The stages of a replay: what it sends when, and what stops it. With in-memory stores and a virtual clock. */

const GOOD: Fate = { end: 'succeeded' };
const BAD: Fate = { end: 'failed' };

async function aGroup(count: number): Promise<{ scene: Scene; stores: MemoryStores }> {
  const stores = memoryStores();
  const scene = aScene(stores);
  await scene.fail(ids(count));
  return { scene, stores };
}

/** How many envelopes were sent between two waits. */
function stageSizes(scene: Scene): readonly number[] {
  const sizes: number[] = [];
  for (const [at, { atMs }] of scene.sent.entries()) {
    const before = scene.sent[at - 1]?.atMs ?? Number.NEGATIVE_INFINITY;
    if (atMs - before > 400) sizes.push(0);
    sizes.push((sizes.pop() ?? 0) + 1);
  }
  return sizes;
}

describe('stages', () => {
  it('sends one, then ten, then a hundred, each stage after the previous one succeeded', async () => {
    const { scene } = await aGroup(250);
    const fate = (): Fate => ({ end: 'succeeded', afterMs: 3_000 });
    const end = await scene.replay(await scene.select(), {}, { fate });
    expect(stageSizes(scene)).toEqual([1, 10, 100, 100, 39]);
    expect(end).toMatchObject({ why: 'all-sent', skipped: [], left: [], failedAgain: [] });
    expect(end.sent).toHaveLength(250);
    expect(end.endedWell).toHaveLength(250);
    expect(new Set(scene.sentIds()).size).toBe(250);
  });

  // Newest first: the nth one sent is the nth from last to fail.
  const POISONED = [
    ['the first', 0, 1],
    ['the first of the ten', 1, 11],
    ['the last of the ten', 10, 11],
    ['one in the first hundred', 60, 111],
    ['the first of a later hundred', 111, 211],
    ['the last of all', 249, 250],
  ] as const;

  it.each(POISONED)(
    'a repeated failure in %s stops the replay after that stage',
    async (_where, nth, sentInAll) => {
      const { scene } = await aGroup(250);
      const failures = await scene.select();
      const poison = failures[nth]?.envelopeId;
      const end = await scene.replay(failures, {}, { fate: (id) => (id === poison ? BAD : GOOD) });
      expect(end.why).toBe('failed-again');
      expect(scene.sent).toHaveLength(sentInAll);
      expect(end.sent).toHaveLength(sentInAll);
      expect(end.left).toHaveLength(250 - sentInAll);
      expect(end.failedAgain.map(({ envelopeId }) => envelopeId)).toEqual([poison]);
      expect(end.endedWell.map(({ envelopeId }) => envelopeId)).not.toContain(poison);
      // The rest is unchanged: the next replay can send it.
      for (const { replays } of end.left) expect(replays).toEqual([]);
    },
  );

  it('does not wait for the others once one has failed again', async () => {
    const { scene } = await aGroup(11);
    const failures = await scene.select();
    const began = scene.clock.now();
    const fate = (id: string): Fate =>
      id === failures[3]?.envelopeId ? BAD : id === failures[0]?.envelopeId ? GOOD : 'none';
    const end = await scene.replay(failures, {}, { fate });
    expect(end.why).toBe('failed-again');
    expect(scene.clock.now() - began).toBeLessThan(5_000);
  });

  it('waits for late ends', async () => {
    const { scene } = await aGroup(12);
    const fate = (): Fate => ({ end: 'succeeded', afterMs: 599_000 });
    const end = await scene.replay(await scene.select(), {}, { fate });
    expect(end).toMatchObject({ why: 'all-sent', left: [] });
    expect(stageSizes(scene)).toEqual([1, 10, 1]);
  });

  it('stops if some envelopes have not ended in time, and reports their number', async () => {
    const { scene } = await aGroup(20);
    const failures = await scene.select();
    const silent = new Set([failures[2]?.envelopeId, failures[5]?.envelopeId]);
    const began = scene.clock.now();
    const end = await scene.replay(
      failures,
      { waitMs: 60_000 },
      { fate: (id) => (silent.has(id) ? 'none' : GOOD) },
    );
    expect(end).toMatchObject({ why: 'no-end', problem: '2 of the sent envelopes did not end' });
    expect(end.sent).toHaveLength(11);
    expect(end.endedWell).toHaveLength(9);
    expect(end.left).toHaveLength(9);
    expect(scene.clock.now() - began).toBeGreaterThanOrEqual(60_000);
    expect(scene.clock.now() - began).toBeLessThan(63_000);
  });

  it('finds ends recorded by clocks that differ from the local one', async () => {
    for (const skewMs of [-86_400_000, -290_000, 290_000, 86_400_000]) {
      const stores = memoryStores();
      const scene = aScene(stores);
      await scene.fail(ids(12));
      const here = { ...scene.clock, now: () => scene.clock.now() + skewMs };
      const end = await scene.replay(await scene.select(), {}, { clock: here });
      expect(end.why, `${skewMs} ms`).toBe('all-sent');
    }
  });

  it('a failed child of a fan-out stops it too, and is reported', async () => {
    const { scene } = await aGroup(30);
    const end = await scene.replay(
      await scene.select(),
      {},
      {
        onSend: async ({ body, atMs }) => {
          if (scene.sent.length === 1) {
            const child = body.replace(/"id":"[^"]*"/, '"id":"child-1"');
            scene.clock.after(50, () => scene.endAs(child, 'score', 'failed'));
          }
          expect(atMs).toBe(scene.clock.now());
        },
      },
    );
    expect(end).toMatchObject({ why: 'failed-again', failedAgain: [{ envelopeId: 'child-1' }] });
    expect(end.sent).toHaveLength(1);
  });

  it('a canceled envelope is not a failure', async () => {
    const { scene } = await aGroup(3);
    const end = await scene.replay(await scene.select(), {}, { fate: () => ({ end: 'canceled' }) });
    expect(end).toMatchObject({ why: 'all-sent', failedAgain: [] });
  });

  it('sends all envelopes without stages if noRamp is set, even if they fail again', async () => {
    const { scene } = await aGroup(30);
    const end = await scene.replay(await scene.select(), {}, { fate: () => BAD, noRamp: true });
    expect(end).toMatchObject({ why: 'all-sent', left: [] });
    expect(end.sent).toHaveLength(30);
  });

  it('reports its progress: sent, ended, skipped', async () => {
    const { scene } = await aGroup(12);
    const seen: ReplayProgress[] = [];
    await scene.replay(await scene.select(), {}, { onProgress: (progress) => seen.push(progress) });
    expect(seen[0]).toEqual({ total: 12, sent: 1, skipped: 0, ended: 0 });
    expect(seen).toContainEqual({ total: 12, sent: 1, skipped: 0, ended: 1 });
    expect(seen.at(-1)).toEqual({ total: 12, sent: 12, skipped: 0, ended: 12 });
  });
});

describe('the rate', () => {
  it.each([
    [5, 200],
    [50, 20],
    [0.5, 2_000],
  ])('of %d per second sends one at most every %d ms', async (perSecond, gapMs) => {
    const { scene } = await aGroup(30);
    await scene.replay(await scene.select(), { perSecond });
    const gaps = scene.sent.slice(1).map(({ atMs }, at) => atMs - (scene.sent[at]?.atMs ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(gapMs);
  });
});

describe('stopped by Ctrl-C', () => {
  it('between two envelopes, it sends nothing more and reports the rest as left', async () => {
    const { scene } = await aGroup(30);
    const failures = await scene.select();
    const stopping = new AbortController();
    const onSend = () => {
      if (scene.sent.length === 4) stopping.abort();
    };
    const end = await scene.replay(failures, {}, { stop: stopping.signal, onSend });
    expect(end.why).toBe('stopped');
    expect(scene.sent).toHaveLength(4);
    expect(end.left[0]).toEqual(failures[4]);
    expect(end.left).toHaveLength(26);
  });

  it('while it waits, it sends nothing more', async () => {
    const { scene } = await aGroup(30);
    const stopping = new AbortController();
    scene.clock.after(30_000, () => stopping.abort());
    const end = await scene.replay(await scene.select(), {}, { stop: stopping.signal, fate: () => 'none' });
    expect(end.why).toBe('stopped');
    expect(scene.sent).toHaveLength(1);
    expect(end.left).toHaveLength(29);
  });

  it('before the first envelope, it sends nothing', async () => {
    const { scene } = await aGroup(3);
    const end = await scene.replay(await scene.select(), {}, { stop: AbortSignal.abort() });
    expect(end).toMatchObject({ why: 'stopped', sent: [] });
    expect(end.left).toHaveLength(3);
  });
});

describe('queues', () => {
  const missing = (actor: string): Reply => ({
    ok: false,
    problem: `queue "${actor}" does not exist`,
    isQueueMissing: true,
  });

  async function mixedFailures() {
    const scene = aScene(memoryStores());
    await scene.fail(ids(3, 'gone'), { status: { actor: 'gone' } });
    await scene.fail(ids(13));
    await scene.fail(['nameless'], { status: { actor: 'no name at all' } });
    const checked: string[] = [];
    const checkQueue = async (actor: string) => {
      expect(scene.sent).toEqual([]);
      checked.push(actor);
      return actor === 'gone' ? missing(actor) : ACCEPTED;
    };
    return { scene, checked, checkQueue };
  }

  it('are checked once per actor before the first send; failures without a queue are skipped', async () => {
    const { scene, checked, checkQueue } = await mixedFailures();
    const end = await scene.replay(await scene.select(), {}, { checkQueue });
    expect(checked.toSorted()).toEqual(['gone', 'score']);
    expect(end).toMatchObject({ why: 'all-sent', left: [] });
    expect(end.sent).toHaveLength(13);
    expect(
      end.skipped
        .map(({ failure, target, isQueueMissing }) => [failure.envelopeId, target, isQueueMissing])
        .toSorted(),
    ).toEqual([...ids(3, 'gone').map((id) => [id, 'gone', true]), ['nameless', undefined, undefined]]);
    expect((await scene.entriesOf('gone-1'))[0]?.replays).toEqual([]);
  });

  it('that are missing are reported even if the replay stops early', async () => {
    const { scene, checkQueue } = await mixedFailures();
    const end = await scene.replay(await scene.select(), {}, { checkQueue, fate: () => BAD });
    expect(end.why).toBe('failed-again');
    expect(end.skipped.filter(({ target }) => target === 'gone')).toHaveLength(3);
    expect(end.left).toHaveLength(12);
  });

  it('are not checked for failures replayed before, nor for the original actor with another target', async () => {
    const { scene, checked, checkQueue } = await mixedFailures();
    await scene.replay(await scene.select({ filter: { actor: 'gone' } }), { to: 'score' });
    scene.sent.length = 0;
    await scene.replay(await scene.select({ filter: { actor: 'gone' } }), {}, { checkQueue });
    expect(checked).toEqual([]);
    await scene.replay(await scene.select(), { to: 'other', again: true }, { checkQueue });
    expect(checked).toEqual(['other']);
  });

  it('that cannot be checked stop the replay before the first send', async () => {
    const { scene } = await mixedFailures();
    const checkQueue = async (): Promise<Reply> => ({ ok: false, problem: 'the broker is down' });
    const end = await scene.replay(await scene.select(), {}, { checkQueue });
    expect(end).toMatchObject({
      why: 'refused',
      problem: expect.stringMatching(/^cannot check the queue of ".*": the broker is down$/),
      sent: [],
      skipped: [],
    });
    expect(end.left).toHaveLength(17);
  });
});

describe('one target that the broker refuses', () => {
  const DENIED: Reply = { ok: false, problem: 'AccessDenied: not authorized' };
  const GONE: Reply = { ok: false, problem: 'queue "store" does not exist', isQueueMissing: true };
  const only =
    (target: string, reply: Reply) =>
    (actor: string): Reply =>
      actor === target ? reply : ACCEPTED;
  const refusing = (target: string, reply: Reply) => (_id: string, to: string) => only(target, reply)(to);

  /** `order` names the target of each failure, in the order in which a replay sends them. */
  async function aMeshOf(order: readonly string[]): Promise<Scene> {
    const scene = aScene(memoryStores());
    for (const [at, actor] of [...order].reverse().entries())
      await scene.fail([`${actor}-${order.length - 1 - at}`], { status: { actor } });
    return scene;
  }

  const sentTo = (scene: Scene) => scene.sent.map(({ to }) => to);
  const skippedIds = (end: ReplayEnd) => end.skipped.map(({ failure }) => failure.envelopeId).toSorted();

  it('at the check: its failures are skipped and the others are sent', async () => {
    const scene = await aMeshOf(['store', 'score', 'store', 'score']);
    const checkQueue = async (actor: string) => only('store', DENIED)(actor);
    const end = await scene.replay(await scene.select(), {}, { checkQueue });
    expect(end).toMatchObject({ why: 'all-sent', left: [] });
    expect(sentTo(scene)).toEqual(['score', 'score']);
    const why = {
      target: 'store',
      problem: 'cannot check the queue of "store": AccessDenied: not authorized',
    };
    expect(end.skipped).toMatchObject([why, why]);
    expect(end.skipped[0]).not.toHaveProperty('isQueueMissing');
  });

  it('at the first send: nothing more is sent there, the note is withdrawn, the others are sent', async () => {
    const scene = await aMeshOf(['score', 'store', 'score', 'store', 'store', 'score']);
    const tried: string[] = [];
    const refuse = (id: string, to: string) => {
      tried.push(id);
      return only('store', DENIED)(to);
    };
    const end = await scene.replay(await scene.select(), {}, { refuse });
    expect(end).toMatchObject({ why: 'all-sent', left: [], failedAgain: [] });
    expect(sentTo(scene)).toEqual(['score', 'score', 'score']);
    expect(end.endedWell).toHaveLength(3);
    expect(skippedIds(end)).toEqual(['store-1', 'store-3', 'store-4']);
    for (const one of end.skipped) expect(one).toMatchObject({ target: 'store', problem: DENIED.problem });
    expect(tried.filter((id) => id.startsWith('store'))).toEqual(['store-1']);
    expect((await scene.entriesOf('store-1'))[0]?.replays).toEqual([]);
    // When access is granted, the same command sends what was skipped.
    const next = await scene.replay(await scene.select());
    expect(next.sent.map(({ envelopeId }) => envelopeId)).toEqual(['store-1', 'store-3', 'store-4']);
  });

  it('because its queue was deleted after the check: skipped like a missing queue', async () => {
    const scene = await aMeshOf(['store', 'score', 'store']);
    const end = await scene.replay(await scene.select(), {}, { refuse: refusing('store', GONE) });
    expect(end).toMatchObject({ why: 'all-sent', left: [] });
    expect(sentTo(scene)).toEqual(['score']);
    const why = { target: 'store', problem: GONE.problem, isQueueMissing: true };
    expect(end.skipped).toMatchObject([why, why]);
  });

  it('because its queue was deleted, with no other target: all failures are skipped', async () => {
    const scene = await aMeshOf(['store', 'store']);
    const end = await scene.replay(await scene.select(), {}, { refuse: refusing('store', GONE) });
    expect(end).toMatchObject({ why: 'all-sent', sent: [], left: [] });
    expect(end.skipped).toHaveLength(2);
  });

  it('does not use up a stage: the first stage sends to the next target and waits for its end', async () => {
    const scene = await aMeshOf(['store', 'store', ...Array.from({ length: 12 }, () => 'score')]);
    const end = await scene.replay(await scene.select(), {}, { refuse: refusing('store', DENIED) });
    expect(stageSizes(scene)).toEqual([1, 10, 1]);
    expect(end).toMatchObject({ why: 'all-sent', left: [] });
    expect(end.skipped).toHaveLength(2);
  });

  it('as the only target in the last stage: the stage ends at once and its failures are skipped', async () => {
    const scene = await aMeshOf(['score', 'store', 'store']);
    const failures = await scene.select();
    const began = scene.clock.now();
    const end = await scene.replay(failures, {}, { refuse: refusing('store', DENIED) });
    expect(end).toMatchObject({ why: 'all-sent', left: [] });
    expect(end.sent).toHaveLength(1);
    expect(skippedIds(end)).toEqual(['store-1', 'store-2']);
    expect(scene.clock.now() - began).toBeLessThan(5_000);
  });

  it('is reported when the ramp stops before the others are sent', async () => {
    const scene = await aMeshOf(['store', 'score', 'store', 'score']);
    const end = await scene.replay(
      await scene.select(),
      {},
      { refuse: refusing('store', DENIED), fate: () => BAD },
    );
    expect(end.why).toBe('failed-again');
    expect(skippedIds(end)).toEqual(['store-0', 'store-2']);
    expect(end.left).toHaveLength(1);
  });

  it('does not change the reason for failures that were replayed before', async () => {
    const scene = await aMeshOf(['store', 'score', 'store']);
    await scene.replay(await scene.select({ envelopeIds: ['store-2'] }), { replay: 'r-old' });
    const end = await scene.replay(await scene.select(), {}, { refuse: refusing('store', DENIED) });
    const problems = new Map(end.skipped.map(({ failure, problem }) => [failure.envelopeId, problem]));
    expect(problems.get('store-0')).toBe(DENIED.problem);
    expect(problems.get('store-2')).toBe('it was replayed before (r-old)');
  });

  it('stops the replay when no other target is left, because that is an outage', async () => {
    const scene = await aMeshOf(['score', 'store', 'score', 'store', 'audit']);
    const refuse = () => (scene.sent.length < 2 ? ACCEPTED : { ok: false as const, problem: 'broker down' });
    const end = await scene.replay(await scene.select(), {}, { refuse });
    expect(end).toMatchObject({ why: 'refused', problem: 'audit-4 could not be sent: broker down' });
    expect(end.sent).toHaveLength(2);
    expect(skippedIds(end)).toEqual(['score-2', 'store-3']);
    expect(end.left.map(({ envelopeId }) => envelopeId)).toEqual(['audit-4']);
    for (const id of ['score-2', 'store-3', 'audit-4'])
      expect((await scene.entriesOf(id))[0]?.replays).toEqual([]);
  });

  it('does not stop the replay when another target accepted all its envelopes', async () => {
    const scene = await aMeshOf(['score', 'store']);
    const end = await scene.replay(await scene.select(), {}, { refuse: refusing('store', DENIED) });
    expect(end).toMatchObject({ why: 'all-sent', left: [] });
    expect(skippedIds(end)).toEqual(['store-1']);
  });

  it('stops the replay when its note cannot be withdrawn, because the store is down as well', async () => {
    const stores = memoryStores();
    const scene = aScene(stores);
    await scene.fail(['e-1']);
    await scene.fail(['e-2'], { status: { actor: 'store' } });
    const refuse = () => {
      stores.breakDown('removeReplay');
      return DENIED;
    };
    const end = await scene.replay(await scene.select(), {}, { refuse });
    expect(end).toMatchObject({ why: 'refused', sent: [], skipped: [] });
    expect(end.problem).toMatch(/^e-2 could not be sent: AccessDenied: .*the store is down$/);
  });

  it('at the check, with all other queues missing: all failures are skipped', async () => {
    const scene = await aMeshOf(['store', 'gone']);
    const checkQueue = async (actor: string): Promise<Reply> =>
      actor === 'gone' ? { ok: false, problem: 'queue "gone" does not exist', isQueueMissing: true } : DENIED;
    const end = await scene.replay(await scene.select(), {}, { checkQueue });
    expect(end).toMatchObject({ why: 'all-sent', sent: [], left: [] });
    expect(end.skipped).toHaveLength(2);
  });
});

describe('a refusal', () => {
  it('by the broker: the note is withdrawn, and the failure does not count as replayed', async () => {
    const { scene } = await aGroup(5);
    const failures = await scene.select();
    const refused = failures[2]?.envelopeId ?? '';
    const refuse = (id: string) =>
      id === refused ? ({ ok: false, problem: 'no such queue' } as const) : ({ ok: true } as const);
    const end = await scene.replay(failures, {}, { refuse });
    expect(end.why).toBe('refused');
    expect(end.problem).toBe(`${refused} could not be sent: no such queue`);
    expect(end.sent).toHaveLength(2);
    expect(end.left[0]?.envelopeId).toBe(refused);
    expect((await scene.entriesOf(refused))[0]?.replays).toEqual([]);
    // Once the queue exists, the same command continues where it stopped.
    const next = await scene.replay(await scene.select());
    expect(next.sent.map(({ envelopeId }) => envelopeId)).toEqual(
      end.left.map(({ envelopeId }) => envelopeId),
    );
    expect(next.skipped).toHaveLength(2);
  });

  it('by the broker and the store: reports that the note remains', async () => {
    const { scene, stores } = await aGroup(1);
    const refuse = () => {
      stores.breakDown('removeReplay');
      return { ok: false, problem: 'no such queue' } as const;
    };
    const end = await scene.replay(await scene.select(), {}, { refuse });
    expect(end.problem).toMatch(
      /no such queue; removing the replay from the failure index failed too: .*the store is down/,
    );
  });

  it.each(['get', 'recordReplay'] as const)(
    'by a store (%s): sends nothing and notes nothing',
    async (call) => {
      const { scene, stores } = await aGroup(3);
      const failures = await scene.select();
      stores.breakDown(call);
      const end = await scene.replay(failures);
      stores.breakDown(undefined);
      expect(end).toMatchObject({
        why: 'refused',
        sent: [],
        problem: expect.stringContaining('the store is down'),
      });
      expect(scene.sent).toEqual([]);
      expect(end.left).toHaveLength(3);
      for (const id of ids(3)) expect((await scene.entriesOf(id))[0]?.replays).toEqual([]);
    },
  );

  it('by a store that stored the note but lost the reply: the note is withdrawn', async () => {
    const stores = memoryStores();
    let losesAnswers = true;
    const recordReplay: FailureIndex['recordReplay'] = async (...note) => {
      const reply = await stores.failures.recordReplay(...note);
      return losesAnswers ? { ok: false, problem: 'no answer' } : reply;
    };
    const scene = aScene({ ...stores, failures: { ...stores.failures, recordReplay } });
    await scene.fail(ids(3));
    const end = await scene.replay(await scene.select());
    expect(end).toMatchObject({ why: 'refused', sent: [], problem: 'no answer' });
    losesAnswers = false;
    expect(await scene.replay(await scene.select())).toMatchObject({ why: 'all-sent', skipped: [] });
  });

  it('by the store while waiting for ends: the replay stops', async () => {
    const { scene, stores } = await aGroup(20);
    const onSend = () => stores.breakDown('ofReplay');
    const end = await scene.replay(await scene.select(), {}, { onSend });
    expect(end).toMatchObject({ why: 'refused', problem: expect.stringContaining('the store is down') });
    expect(end.sent).toHaveLength(1);
    expect(end.left).toHaveLength(19);
  });
});
