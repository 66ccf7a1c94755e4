import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ids } from '../replay/a-replay.ts';
import { endProcesses, startProcess, temporaryFolder } from '../sidecar/sidecar-process.ts';
import { type Desk, type Office, openOffice } from './a-cli.ts';
import { asya } from './a-terminal.ts';

/** Which mesh is meant: the one that the environment names, or one that runs on this machine. */

let office: Office;
let desk: Desk;
let goneByNow: number;
beforeAll(async () => {
  office = await openOffice();
  desk = await office.desk();
  await desk.scene.fail(ids(2));
  const process = startProcess(['-e', ''], {});
  await process.untilExit();
  goneByNow = process.pid;
});
afterAll(async () => {
  await endProcesses();
  await office.close();
});

interface MeshFile {
  readonly pid?: unknown;
  readonly variables?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** Leaves a mesh's word about itself in a folder. */
function leave(folder: string, name: string, mesh: MeshFile | string = {}): void {
  mkdirSync(join(folder, '.asya', name), { recursive: true });
  const flows = [{ name: 'scores', entrypoint: 'fetch', routeNext: ['score'], timeoutSeconds: 90 }];
  const whole = {
    name,
    folder,
    pid: process.pid,
    variables: desk.variables,
    actors: ['fetch', 'score'],
    flows,
  };
  const text = typeof mesh === 'string' ? mesh : JSON.stringify({ ...whole, ...mesh });
  writeFileSync(join(folder, '.asya', name, 'mesh.json'), text);
}

const NONE = /^asya: no mesh runs here; start one with `npx asya dev`, or set ASYA_FAILURE_TABLE/;

describe('a mesh on this machine', () => {
  it('is found in the folder where one stands, and in the nearest one above', async () => {
    const folder = await temporaryFolder();
    leave(folder, 'scores');
    const deep = join(folder, 'a/b/c');
    mkdirSync(deep, { recursive: true });
    for (const cwd of [folder, deep]) {
      const run = await asya(['failures', 'list'], { cwd });
      expect(run, cwd).toMatchObject({ status: 0, out: expect.stringContaining('e-1') });
    }
    // The nearest one counts, also where nothing runs.
    mkdirSync(join(folder, 'a/.asya'));
    expect(await asya(['failures'], { cwd: deep })).toMatchObject({
      status: 2,
      err: expect.stringMatching(NONE),
    });
  });

  it('is not there where its process is gone, or its file is no good', async () => {
    const files: readonly (MeshFile | string)[] = [
      { pid: goneByNow },
      { pid: 0 },
      { pid: -1 },
      { pid: 'x' },
      '{"pid":',
      '',
      'null',
    ];
    for (const file of files) {
      const folder = await temporaryFolder();
      leave(folder, 'scores', file);
      const run = await asya(['failures'], { cwd: folder });
      expect(run, JSON.stringify(file)).toMatchObject({ status: 2, err: expect.stringMatching(NONE) });
    }
    const folder = await temporaryFolder();
    writeFileSync(join(folder, '.asya'), 'a file');
    expect(await asya(['failures'], { cwd: folder })).toMatchObject({
      status: 2,
      err: expect.stringMatching(NONE),
    });
  });

  it("is there where its process is somebody else's", async () => {
    const folder = await temporaryFolder();
    leave(folder, 'scores', { pid: 1 });
    expect(await asya(['failures'], { cwd: folder })).toMatchObject({ status: 0 });
  });

  it('is named where several run', async () => {
    const folder = await temporaryFolder();
    const other = await office.desk();
    leave(folder, 'scores');
    leave(folder, 'pictures', { variables: other.variables });
    leave(folder, 'ended', { pid: goneByNow });
    expect(await asya(['failures'], { cwd: folder })).toMatchObject({
      status: 2,
      err: 'asya: 2 meshes run here: pictures, scores; say which with --mesh NAME',
    });
    expect((await asya(['failures', 'list', '--mesh', 'scores'], { cwd: folder })).out).toContain('e-1');
    expect((await asya(['failures', 'show', 'e-1', '--mesh', 'scores'], { cwd: folder })).status).toBe(0);
    expect((await asya(['failures', '--mesh', 'pictures'], { cwd: folder })).out).toBe('no failures');
    expect((await asya(['replay', 'e-1', '--mesh', 'scores'], { cwd: folder })).status).toBe(0);
    expect(await asya(['purge', '--all', '--mesh', 'picture'], { cwd: folder })).toMatchObject({
      status: 2,
      err: 'asya: no mesh "picture" runs here; did you mean "pictures"?',
    });
  });

  it('is reached by what it says alone, whatever of ours stands in the environment', async () => {
    const folder = await temporaryFolder();
    leave(folder, 'scores');
    const env = {
      ASYA_NAMESPACE: 'prod',
      ASYA_ACTOR_NAME: 'score',
      ASYA_MISTYPED: 'x',
      ASYA_FAILURE_TABLE: 'prod',
    };
    const run = await asya(['failures', 'list', '--mesh', 'scores'], { cwd: folder, env });
    expect(run).toMatchObject({ status: 0, out: expect.stringContaining('e-1') });
  });

  it("knows its actors, and its flows' timeouts", async () => {
    const folder = await temporaryFolder();
    leave(folder, 'scores');
    const now = () => Date.UTC(2026, 7, 1);
    const dry = await asya(['replay', 'e-1', '--json'], { cwd: folder, now });
    expect(JSON.parse(dry.out)).toMatchObject([{ to: 'score', deadline: '2026-08-01T00:01:30Z' }]);
    const own = await asya(['replay', 'e-1', '--timeout', '1h', '--json'], { cwd: folder, now });
    expect(JSON.parse(own.out)).toMatchObject([{ deadline: '2026-08-01T01:00:00Z' }]);
    expect(await asya(['replay', 'e-1', '--to', 'scroe'], { cwd: folder })).toMatchObject({
      status: 2,
      err: 'asya: --to is "scroe", no actor of this mesh; did you mean "score"?',
    });
  });
});

describe('a mesh named by the environment', () => {
  it('wins over one that runs here', async () => {
    const folder = await temporaryFolder();
    leave(folder, 'scores');
    const { variables } = await office.desk();
    expect(await asya(['failures'], { cwd: folder, env: variables })).toMatchObject({
      status: 0,
      out: 'no failures',
    });
  });

  it('needs its bucket too, and no name that nobody knows', async () => {
    const { ASYA_ARCHIVE_BUCKET: _bucket, ...env } = desk.variables;
    expect(await asya(['failures'], { env })).toMatchObject({
      status: 2,
      err: 'asya: not set: ASYA_ARCHIVE_BUCKET, the bucket of whole envelopes',
    });
    const mistyped = { ...desk.variables, ASYA_NAMESPAC: 'x' };
    expect(await asya(['failures'], { env: mistyped })).toMatchObject({
      status: 2,
      err: expect.stringContaining('ASYA_NAMESPACE'),
    });
  });

  it('sends to the queues of its namespace', async () => {
    const namespaced = await office.desk();
    await namespaced.scene.fail(['e-9']);
    await office.engines.sqs.createQueue('asya-prod-score');
    const env = { ...namespaced.variables, ASYA_NAMESPACE: 'prod' };
    const run = await asya(['replay', 'e-9', '--go', '--no-ramp'], { env });
    expect(run.status).toBe(0);
    expect(await office.engines.sqs.takeUntil('asya-prod-score', 1)).toHaveLength(1);
  });
});
