import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deriveId } from '../../lib/adapters/system/system.ts';
import { childId } from '../../lib/core/envelope/fan-out.ts';
import { aFolder } from '../support/a-folder.ts';
import { type Backend, type CrewMesh, startBackend } from './operator-fixture.ts';
import { asya } from './run-asya.ts';

/** Runs and their fan-out children: `asya runs`, `send --wait` and `watch`. The real crew records the ends. */

let backend: Backend;
beforeAll(async () => {
  backend = await startBackend();
  await backend.engines.sqs.createQueue('split');
});
afterAll(() => backend.close());

const FAN_OUT = { actor: 'split', hop: 0, items: 3 };
const [GOOD, BAD] = [childId('root', FAN_OUT, 1, deriveId), childId('root', FAN_OUT, 2, deriveId)];
const ROOT = {
  id: 'root',
  route: { prev: ['split', 'score'], curr: '', next: [] },
  headers: { 'x-asya-flow': 'words' },
  payload: 0,
  status: { fan_out: [FAN_OUT] },
};
const child = (id: string, payload: number) => ({ ...ROOT, id, parent_id: 'root', payload, status: {} });

async function endAll({ scene }: CrewMesh, ...skipped: readonly string[]): Promise<void> {
  await scene.clock.sleep(1_000);
  await scene.endAs(JSON.stringify(ROOT), 'score', 'succeeded');
  await scene.clock.sleep(1_000);
  await scene.endAs(JSON.stringify(child(GOOD, 1)), 'score', 'succeeded');
  await scene.clock.sleep(1_000);
  if (!skipped.includes(BAD)) await scene.endAs(JSON.stringify(child(BAD, 2)), 'score', 'failed');
}

const idsIn = (out: string) =>
  out
    .split('\n')
    .slice(1)
    .map((line) => line.split(' ')[0]);

describe('asya runs', () => {
  it('lists ends newest first, succeeded ones too, and filters them', async () => {
    const mesh = await backend.newMesh();
    const { cli } = mesh;
    expect(await cli('runs')).toMatchObject({ status: 0, out: 'no runs' });
    await endAll(mesh);
    const { out } = await cli('runs');
    expect(out.split('\n')[0]).toMatch(/^ENVELOPE +ENDED +PHASE +ACTOR +REASON +ATTEMPT +FLOW/);
    expect(idsIn(out)).toEqual([BAD, GOOD, 'root']);
    expect(out).toMatch(/\nroot +59m ago +succeeded +score +Completed +1 +words/);
    for (const [filter, found] of [
      [['--phase', 'failed'], [BAD]],
      [
        ['--reason', 'Completed'],
        [GOOD, 'root'],
      ],
      [
        ['--flow', 'words', '--actor', 'score'],
        [BAD, GOOD, 'root'],
      ],
      [['--id', 'ro'], ['root']],
      [['--since', '1m'], []],
    ] as const)
      expect(idsIn((await cli('runs', ...filter)).out), filter.join(' ')).toEqual(found);
    const limited = await cli('runs', '--limit', '2');
    expect(idsIn(limited.out)).toEqual([BAD, GOOD]);
    expect(limited.err).toBe('there are more; pass a larger --limit (at most 10000)');
    const [first] = (await cli('runs', '--json')).out.split('\n').map((line) => JSON.parse(line));
    expect(first).toMatchObject({ id: BAD, phase: 'failed', parent: 'root', flow: 'words' });
  });

  it.each([
    [['--phase', 'fail'], 2, '--phase is "fail"; expected one of succeeded, failed, canceled; did you mean'],
    [['--actor', 'scroe'], 1, '--actor is "scroe", which is not known in this mesh; did you mean "score"?'],
    [['--limit', '0'], 2, '--limit is "0"'],
    [['show', ''], 2, 'the id is empty'],
    [['show', 'missing'], 1, 'no end of envelope "missing" is stored'],
    [['show', 'e'], 1, 'no end of envelope "e" is stored; the start of an id needs at least 4 characters'],
    [['root'], 2, '"root" is not a subcommand of asya runs; asya runs show ID shows one envelope'],
  ] as const)('reports %j', async (argv, status, message) => {
    const mesh = await backend.newMesh();
    await endAll(mesh);
    expect(await mesh.cli('runs', ...argv)).toMatchObject({ status, err: expect.stringContaining(message) });
  });
});

describe('asya runs show', () => {
  it('shows the route, the children with their errors, and the archive key, by a prefix of the id', async () => {
    const mesh = await backend.newMesh();
    await endAll(mesh);
    const { status, out } = await mesh.cli('runs', 'show', 'root');
    expect(status).toBe(0);
    expect(out).toMatch(/^root {2}succeeded at score: Completed\n/);
    expect(out).toContain('split ✓ → score ✓');
    expect(out).toContain(`├─ ${GOOD}  succeeded at score: Completed`);
    expect(out).toContain(`└─ ${BAD}  failed at score: exhausted (PolicyExhausted)`);
    expect(out).not.toContain('payload     0');
    const failed = await mesh.cli('runs', 'show', BAD.slice(0, 8), '--payload');
    expect(failed.out).toMatch(new RegExp(`^${BAD} {2}failed at score`));
    expect(failed.out).toMatch(/\nerror +pkg\.ValueError: no such user: 17\n/);
    expect(failed.out).toMatch(/\nparent +root\n/);
    expect(failed.out).toMatch(/\nfailure +open, .*\n/);
    expect(failed.out).toMatch(/\npayload\n2$/);
    expect(JSON.parse((await mesh.cli('runs', 'show', 'root', '--json')).out)).toMatchObject({
      id: 'root',
      children: [
        { id: GOOD, phase: 'succeeded' },
        { id: BAD, phase: 'failed' },
      ],
    });
  });
});

describe('a run with fan-out children', () => {
  it('is awaited by send --wait, which prints each end', async () => {
    const mesh = await backend.newMesh();
    await endAll(mesh);
    const { status, out, err } = await mesh.cli('send', 'score', '--id', 'root', '--wait');
    expect(status).toBe(1);
    expect(out.split('\n').sort()).toEqual(['0', '1']);
    expect(err).toContain(`asya: ${BAD} failed at score: exhausted (PolicyExhausted)`);
    expect(err).toContain('\n  pkg.ValueError: no such user: 17\n');
    expect(err).toMatch(/\n3 envelopes ended: 2 succeeded, 1 did not$/);
  });

  it('is not over for send --wait while a child has not ended', async () => {
    const mesh = await backend.newMesh();
    await endAll(mesh, BAD);
    expect(await mesh.cli('send', 'score', '--id', 'root', '--wait', '--timeout', '10ms')).toMatchObject({
      status: 1,
      err: expect.stringContaining('asya: root: 1 not ended yet; follow it with asya watch root'),
    });
  });

  it('is one tree in asya watch, also for a mesh on AWS', async () => {
    const mesh = await backend.newMesh();
    await endAll(mesh);
    const { status, out } = await mesh.cli('watch', 'root');
    expect(status).toBe(1);
    expect(out.split('\n').slice(0, 4)).toEqual([
      'root  succeeded at score: Completed',
      `├─ ${GOOD}  succeeded at score: Completed`,
      expect.stringMatching(`^└─ ${BAD}  failed at score: exhausted \\(PolicyExhausted\\)`),
      '      pkg.ValueError: no such user: 17',
    ]);
    expect(await mesh.cli('watch', '')).toMatchObject({ status: 2 });
  });
});

describe('asya send to a mesh on AWS', () => {
  const actor = (name: string) =>
    `apiVersion: asya.sh/v1alpha1\nkind: AsyncActor\nmetadata: {name: ${name}}\nspec: {handler: a.ts.f}\n`;
  const files = {
    'mesh/actors.yaml': [actor('split'), actor('score')].join('---\n'),
    'mesh/flows.yaml': 'flows:\n- {name: words, entrypoint: split, route_next: [score]}\n',
    'mesh/a.ts': 'export function f() {}\n',
    'empty/.keep': '',
  };

  it.each([
    ['the current folder', 'mesh', []],
    ['--folder', '.', ['--folder', 'mesh']],
  ])('sends along a flow of %s', async (_what, cwd, options) => {
    const { variables: env } = await backend.newMesh();
    const folder = aFolder(files);
    const run = await asya(['send', 'words', '--id', 'w-1', ...options], { env, cwd: `${folder}/${cwd}` });
    expect(run).toMatchObject({ status: 0, out: 'w-1', err: '' });
    const [{ Body: sent = '' } = {}] = await backend.engines.sqs.takeUntil('split', 1);
    expect(JSON.parse(sent)).toMatchObject({
      route: { prev: [], curr: 'split', next: ['score'] },
      headers: { 'x-asya-flow': 'words' },
    });
  });

  it.each([
    ['wordz', 'mesh', [], 'no actor "wordz" has a queue in this mesh; did you mean "words"?'],
    [
      'words',
      'empty',
      [],
      `no actor "words" has a queue in this mesh; to send along a flow, run the command in`,
    ],
    ['zzz', '.', ['--folder', 'mesh'], 'no flow or actor is named "zzz"; the mesh has words, split, score'],
    ['words', '.', ['--folder', 'nowhere'], 'is not an existing folder'],
  ])('rejects %s in %s with %j', async (target, cwd, options, message) => {
    const { variables: env } = await backend.newMesh();
    const run = await asya(['send', target, ...options], { env, cwd: `${aFolder(files)}/${cwd}` });
    expect(run).toMatchObject({ status: 2, err: expect.stringContaining(message) });
  });
});
