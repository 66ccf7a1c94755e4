import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ids } from '../replay/a-replay.ts';
import { endProcesses, startProcess, temporaryFolder } from '../sidecar/sidecar-process.ts';
import { type Backend, type CrewMesh, startBackend } from './operator-fixture.ts';
import { asya } from './run-asya.ts';

/** Which mesh a command uses: the one in the environment variables, or one that runs on this machine. */

let backend: Backend;
let crew: CrewMesh;
let exitedPid: number;
beforeAll(async () => {
  backend = await startBackend();
  crew = await backend.newMesh();
  await crew.scene.fail(ids(2));
  const process = startProcess(['-e', ''], {});
  await process.untilExit();
  exitedPid = process.pid;
});
afterAll(async () => {
  await endProcesses();
  await backend.close();
});

interface MeshFile {
  readonly pid?: unknown;
  readonly variables?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** Writes the mesh.json of a running mesh. */
function writeMeshFile(folder: string, name: string, mesh: MeshFile | string = {}): void {
  mkdirSync(join(folder, '.asya', name), { recursive: true });
  const flows = [{ name: 'scores', entrypoint: 'fetch', routeNext: ['score'], timeoutSeconds: 90 }];
  const whole = {
    name,
    folder,
    pid: process.pid,
    variables: crew.variables,
    actors: ['fetch', 'score'],
    flows,
  };
  const text = typeof mesh === 'string' ? mesh : JSON.stringify({ ...whole, ...mesh });
  writeFileSync(join(folder, '.asya', name, 'mesh.json'), text);
}

const NO_MESH =
  /^asya: no mesh is running in this folder; start one with `npx asya dev`, or set ASYA_FAILURE_TABLE/;

describe('a mesh on this machine', () => {
  it('is found in the current folder, or in the nearest parent', async () => {
    const folder = await temporaryFolder();
    writeMeshFile(folder, 'scores');
    const deep = join(folder, 'a/b/c');
    mkdirSync(deep, { recursive: true });
    for (const cwd of [folder, deep]) {
      const run = await asya(['failures', 'list'], { cwd });
      expect(run, cwd).toMatchObject({ status: 0, out: expect.stringContaining('e-1') });
    }
    // Only the nearest .asya folder counts, even if nothing runs there.
    mkdirSync(join(folder, 'a/.asya'));
    expect(await asya(['failures'], { cwd: deep })).toMatchObject({
      status: 2,
      err: expect.stringMatching(NO_MESH),
    });
  });

  it('is ignored if its process has exited or its file is invalid', async () => {
    const files: readonly (MeshFile | string)[] = [
      { pid: exitedPid },
      { pid: 0 },
      { pid: -1 },
      { pid: 'x' },
      '{"pid":',
      '',
      'null',
    ];
    for (const file of files) {
      const folder = await temporaryFolder();
      writeMeshFile(folder, 'scores', file);
      const run = await asya(['failures'], { cwd: folder });
      expect(run, JSON.stringify(file)).toMatchObject({ status: 2, err: expect.stringMatching(NO_MESH) });
    }
    const folder = await temporaryFolder();
    writeFileSync(join(folder, '.asya'), 'a file');
    expect(await asya(['failures'], { cwd: folder })).toMatchObject({
      status: 2,
      err: expect.stringMatching(NO_MESH),
    });
  });

  it('is found if its process belongs to another user', async () => {
    const folder = await temporaryFolder();
    writeMeshFile(folder, 'scores', { pid: 1 });
    expect(await asya(['failures'], { cwd: folder })).toMatchObject({ status: 0 });
  });

  it('is chosen with --mesh if several run', async () => {
    const folder = await temporaryFolder();
    const other = await backend.newMesh();
    writeMeshFile(folder, 'scores');
    writeMeshFile(folder, 'pictures', { variables: other.variables });
    writeMeshFile(folder, 'ended', { pid: exitedPid });
    expect(await asya(['failures'], { cwd: folder })).toMatchObject({
      status: 2,
      err: 'asya: 2 meshes are running in this folder: pictures, scores; choose one with --mesh NAME',
    });
    expect((await asya(['failures', 'list', '--mesh', 'scores'], { cwd: folder })).out).toContain('e-1');
    expect((await asya(['failures', 'show', 'e-1', '--mesh', 'scores'], { cwd: folder })).status).toBe(0);
    expect((await asya(['failures', '--mesh', 'pictures'], { cwd: folder })).out).toBe('no failures');
    expect((await asya(['replay', 'e-1', '--mesh', 'scores'], { cwd: folder })).status).toBe(0);
    expect(await asya(['purge', '--all', '--mesh', 'picture'], { cwd: folder })).toMatchObject({
      status: 2,
      err: 'asya: no mesh "picture" is running in this folder; did you mean "pictures"?',
    });
  });

  it('uses only its own variables, not the ASYA_ variables of the environment', async () => {
    const folder = await temporaryFolder();
    writeMeshFile(folder, 'scores');
    const env = {
      ASYA_NAMESPACE: 'prod',
      ASYA_ACTOR_NAME: 'score',
      ASYA_MISTYPED: 'x',
      ASYA_FAILURE_TABLE: 'prod',
    };
    const run = await asya(['failures', 'list', '--mesh', 'scores'], { cwd: folder, env });
    expect(run).toMatchObject({ status: 0, out: expect.stringContaining('e-1') });
  });

  it("provides its actors and its flows' timeouts", async () => {
    const folder = await temporaryFolder();
    writeMeshFile(folder, 'scores');
    const now = () => Date.UTC(2026, 7, 1);
    const dry = await asya(['replay', 'e-1', '--json'], { cwd: folder, now });
    expect(JSON.parse(dry.out)).toMatchObject([{ to: 'score', deadline: '2026-08-01T00:01:30Z' }]);
    const own = await asya(['replay', 'e-1', '--timeout', '1h', '--json'], { cwd: folder, now });
    expect(JSON.parse(own.out)).toMatchObject([{ deadline: '2026-08-01T01:00:00Z' }]);
    expect(await asya(['replay', 'e-1', '--to', 'scroe'], { cwd: folder })).toMatchObject({
      status: 2,
      err: 'asya: --to is "scroe", which is not an actor of this mesh; did you mean "score"?',
    });
  });
});

describe('a mesh in the environment variables', () => {
  it('takes precedence over one on this machine', async () => {
    const folder = await temporaryFolder();
    writeMeshFile(folder, 'scores');
    const { variables } = await backend.newMesh();
    expect(await asya(['failures'], { cwd: folder, env: variables })).toMatchObject({
      status: 0,
      out: 'no failures',
    });
  });

  it('requires the bucket, and rejects unknown variables', async () => {
    const { ASYA_ARCHIVE_BUCKET: _bucket, ...env } = crew.variables;
    expect(await asya(['failures'], { env })).toMatchObject({
      status: 2,
      err: 'asya: ASYA_ARCHIVE_BUCKET is not set; expected the S3 bucket for archived envelopes',
    });
    const mistyped = { ...crew.variables, ASYA_NAMESPAC: 'x' };
    expect(await asya(['failures'], { env: mistyped })).toMatchObject({
      status: 2,
      err: expect.stringContaining('ASYA_NAMESPACE'),
    });
  });

  it('sends to the queues of its namespace', async () => {
    const namespaced = await backend.newMesh();
    await namespaced.scene.fail(['e-9']);
    await backend.engines.sqs.createQueue('asya-prod-score');
    const env = { ...namespaced.variables, ASYA_NAMESPACE: 'prod' };
    const run = await asya(['replay', 'e-9', '--go', '--no-ramp'], { env });
    expect(run.status).toBe(0);
    expect(await backend.engines.sqs.takeUntil('asya-prod-score', 1)).toHaveLength(1);
  });
});
