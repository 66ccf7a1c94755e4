import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureState } from '../../lib/core/failure/failure-state.ts';
import { type Fate, ids } from '../replay/a-replay.ts';
import { type Backend, type CrewMesh, startBackend } from './operator-fixture.ts';

/** A failure is resolved when its envelope succeeds in a replay. The real crew records it, in real stores. */

let backend: Backend;
beforeAll(async () => {
  backend = await startBackend();
});
afterAll(() => backend.close());

async function replayAll({ scene }: CrewMesh, replay: string, fate: (id: string) => Fate): Promise<void> {
  await scene.replay(await scene.select(), { replay }, { fate, noRamp: true });
  // The ends of the envelopes are recorded while the clock advances.
  await scene.clock.sleep(10_000);
}

const statesOf = async ({ scene }: CrewMesh, id: string) => (await scene.entriesOf(id)).map(failureState);
const idsIn = (out: string) =>
  out
    .split('\n')
    .slice(1)
    .map((line) => line.split(' ')[0]);

describe('a failure whose replay succeeded', () => {
  it('is resolved; groups count it, and lists contain only open failures unless asked', async () => {
    const mesh = await backend.newMesh();
    await mesh.scene.fail(ids(3));
    await replayAll(mesh, 'r-1', (id) => (id === 'e-0' ? { end: 'succeeded' } : 'none'));
    const { cli } = mesh;
    expect(await statesOf(mesh, 'e-0')).toEqual(['resolved']);
    // A replay that has not ended leaves its failure open.
    expect(await statesOf(mesh, 'e-1')).toEqual(['open']);
    expect((await cli('failures')).out.split('\n')[1]).toMatch(/^[0-9a-f]{12} +2 +1 +0 /);
    expect(idsIn((await cli('failures', 'list')).out)).toEqual(['e-2', 'e-1']);
    expect(idsIn((await cli('failures', 'list', '--resolved')).out)).toEqual(['e-0']);
    const all = await cli('failures', 'list', '--all');
    expect(idsIn(all.out)).toEqual(['e-2', 'e-1', 'e-0']);
    expect(all.out).toMatch(/\ne-0 +[0-9a-f]{12} +resolved /);
    const shown = await cli('failures', 'show', 'e-0');
    expect(shown.out).toMatch(/\nreplayed +.* to score, r-1: succeeded\nresolved +.* by replay r-1\n/);
    expect(JSON.parse((await cli('failures', 'show', 'e-0', '--json')).out)).toMatchObject({
      state: 'resolved',
      resolved: { replay: 'r-1' },
    });
    expect(await cli('failures', '--all', '--resolved')).toMatchObject({ status: 2 });
  });

  it('is mentioned if no failure is open, selected by id only, and purged with --resolved', async () => {
    const mesh = await backend.newMesh();
    const { cli } = mesh;
    await mesh.scene.fail(ids(2));
    await replayAll(mesh, 'r-1', () => ({ end: 'succeeded' }));
    expect(await cli('failures')).toMatchObject({
      status: 0,
      out: 'no open failures (2 resolved); --all lists all of them',
    });
    expect(await cli('failures', 'list')).toMatchObject({ status: 0, out: expect.stringContaining('--all') });
    expect(await cli('replay', '--all', '--again')).toMatchObject({
      status: 1,
      err: expect.stringContaining('no failures match'),
    });
    expect(await cli('replay', 'e-0', '--again')).toMatchObject({ status: 0 });
    await mesh.scene.fail(['open']);
    expect(await cli('purge', '--resolved', '--yes')).toMatchObject({ status: 0, err: 'purged 2 failures' });
    expect(idsIn((await cli('failures', 'list', '--all')).out)).toEqual(['open']);
  });
});

describe('a failure whose replay failed again', () => {
  it('is replayed, its new failure is open, and a later success resolves both', async () => {
    const mesh = await backend.newMesh();
    await mesh.scene.fail(['e-1']);
    await replayAll(mesh, 'r-1', () => ({ end: 'failed' }));
    expect(await statesOf(mesh, 'e-1')).toEqual(['open', 'replayed']);
    expect((await mesh.cli('failures')).out.split('\n')[1]).toMatch(/^[0-9a-f]{12} +1 +0 +1 /);
    expect(idsIn((await mesh.cli('failures', 'list')).out)).toEqual(['e-1']);
    await replayAll(mesh, 'r-2', () => ({ end: 'succeeded' }));
    expect(await statesOf(mesh, 'e-1')).toEqual(['resolved', 'resolved']);
  });

  it('is open again if it was canceled', async () => {
    const mesh = await backend.newMesh();
    await mesh.scene.fail(['e-1']);
    await replayAll(mesh, 'r-1', () => ({ end: 'canceled' }));
    expect(await statesOf(mesh, 'e-1')).toEqual(['open']);
  });
});

describe('ids and filters', () => {
  it('accept a unique prefix of an id, and list the candidates of another one', async () => {
    const { scene, cli } = await backend.newMesh();
    await scene.fail(['7f0c2b-one', '7f0c2b-two', '91aa-three', '7f0c']);
    expect((await cli('failures', 'show', '91aa')).out).toMatch(/^91aa-three {2}failed/);
    expect((await cli('failures', 'show', '7f0c')).out).toMatch(/^7f0c {2}failed/);
    expect((await cli('replay', '91aa-', '--json')).out).toContain('"id": "91aa-three"');
    for (const argv of [['failures', 'show'], ['replay'], ['purge', '--yes']])
      expect(await cli(...argv, '7f0c2b')).toMatchObject({
        status: 2,
        err: 'asya: "7f0c2b" is the start of 2 ids; add more characters:\n  7f0c2b-two\n  7f0c2b-one',
      });
    // Too short to mean one of them.
    expect(await cli('failures', 'show', '91a')).toMatchObject({ status: 1 });
  });

  it.each([
    [['--actor', 'scroe'], '--actor is "scroe", which is not known in this mesh; did you mean "score"?'],
    [
      ['--reason', 'PolicyExausted'],
      '--reason is "PolicyExausted", which is not known in this mesh; did you mean "PolicyExhausted"?',
    ],
    [['--flow', 'score'], '--flow is "score", which is not known in this mesh; did you mean "scores"?'],
    [['--flow', 'zzz'], '--flow is "zzz", which is not known in this mesh; known: scores'],
  ])('suggest a known value for %j', async (filter, message) => {
    const { scene, cli } = await backend.newMesh();
    await scene.fail(['e-1']);
    for (const command of [['failures'], ['failures', 'list'], ['replay'], ['purge']])
      expect(await cli(...command, ...filter), command.join(' ')).toMatchObject({
        status: 1,
        err: expect.stringContaining(`asya: ${message}`),
      });
    // Known, but nothing matches.
    expect(await cli('failures', '--reason', 'Timeout')).toMatchObject({ status: 0, err: '' });
  });
});
