import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { LocalMesh, MeshEvent } from '../../../lib/local/mesh/local-mesh.ts';
import { startMesh } from '../../../lib/local/mesh/mesh.ts';
import { aFolder } from '../../support/a-folder.ts';
import { isAlive } from '../../support/pids.ts';
import { actorYaml, FIVE, manifestIn, type Outside, outsideOf, writeFive } from '../a-mesh.ts';

let folder: string;
let mesh: LocalMesh;
let outside: Outside;
const events: MeshEvent[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'asya-five-'));
  writeFive(folder);
  mesh = await start(folder, events);
  outside = outsideOf(mesh.variables);
});

afterAll(async () => {
  await outside.close();
  await mesh.close(1_000);
  rmSync(folder, { recursive: true, force: true });
});

async function start(from: string, received: MeshEvent[]): Promise<LocalMesh> {
  const started = await startMesh({
    manifest: manifestIn(from),
    folder: from,
    replicas: 1,
    onEvent: (event) => received.push(event),
  });
  if ('problem' in started) throw new Error(started.problem);
  return started.mesh;
}

describe('a local mesh', () => {
  test('routes an envelope through every actor', async () => {
    await outside.send(FIVE, 'all-five');
    const end = await outside.untilEnded('all-five');
    expect(end).toMatchObject({ end: 'succeeded', reason: 'Completed', actor: 'e', hop: 5 });
    expect(await outside.payloadOf(end)).toEqual({ path: FIVE });
  });

  test('stores failed envelopes in the failure index', async () => {
    await outside.send(FIVE, 'fails-at-c', { fail: 'c' });
    expect(await outside.untilEnded('fails-at-c')).toMatchObject({ end: 'failed', actor: 'c' });
    await expect
      .poll(
        async () => {
          const page = await outside.stores.failures.ofEnvelope('fails-at-c');
          return page.ok ? page.failures.map(({ errorType, actor }) => [errorType, actor]) : page;
        },
        { timeout: 60_000 },
      )
      .toEqual([['TypeError', 'c']]);
  });

  test('applies a manifest with added, changed and removed actors', async () => {
    const before = manifestIn(folder);
    writeFileSync(join(folder, 'f.yaml'), actorYaml('f'));
    expect(await mesh.apply(manifestIn(folder))).toEqual(['f was added']);
    await outside.send(['f'], 'to-f');
    expect(await outside.payloadOf(await outside.untilEnded('to-f'))).toEqual({ path: ['f'] });

    writeFileSync(join(folder, 'f.yaml'), actorYaml('f').replace('STEP: f', 'STEP: g'));
    expect(await mesh.apply(manifestIn(folder))).toEqual(['f was updated']);
    const relabeled = actorYaml('f')
      .replace('STEP: f', 'STEP: g')
      .replace('{name: f}', '{name: f, namespace: prod, labels: {team: vision}, annotations: {note: a}}');
    writeFileSync(join(folder, 'f.yaml'), relabeled);
    expect(await mesh.apply(manifestIn(folder))).toEqual([]);
    await outside.send(['f'], 'to-f-again');
    expect(await outside.payloadOf(await outside.untilEnded('to-f-again'))).toEqual({ path: ['g'] });

    rmSync(join(folder, 'f.yaml'));
    expect(await mesh.apply(before)).toEqual(['f was removed; its queue keeps its messages']);
    expect([...(await mesh.depths()).keys()]).toEqual(expect.not.arrayContaining(['f']));
  });

  test('runs an actor in the folder of its document after it was moved', async () => {
    const before = manifestIn(folder);
    writeFileSync(join(folder, 'f.yaml'), actorYaml('f'));
    await mesh.apply(manifestIn(folder));
    rmSync(join(folder, 'f.yaml'));
    mkdirSync(join(folder, 'deeper'));
    writeFileSync(join(folder, 'deeper', 'f.yaml'), actorYaml('f'));
    writeFileSync(join(folder, 'deeper', 'step.ts'), 'export const step = () => ({ path: ["deeper"] });\n');
    expect(await mesh.apply(manifestIn(folder))).toEqual(['f was updated']);
    expect(await mesh.apply(manifestIn(folder))).toEqual([]);
    await outside.send(['f'], 'to-deeper-f');
    expect(await outside.payloadOf(await outside.untilEnded('to-deeper-f'))).toEqual({ path: ['deeper'] });
    rmSync(join(folder, 'deeper'), { recursive: true });
    await mesh.apply(before);
  });

  test('runs an actor with new code after renew()', async () => {
    writeFileSync(join(folder, 'step.ts'), 'export const step = () => ({ path: ["new"] });\n');
    mesh.renew('a');
    await outside.send(['a'], 'to-new-a');
    expect(await outside.payloadOf(await outside.untilEnded('to-new-a'))).toEqual({ path: ['new'] });
    writeFive(folder);
    mesh.renew('a');
  });
});

test('two meshes run side by side, and a closed mesh leaves no processes and ports', async () => {
  const other = aFolder({});
  writeFive(other, ['p', 'q']);
  const second = await start(other, []);
  const client = outsideOf(second.variables);
  await client.send(['p', 'q'], 'second');
  expect(await client.untilEnded('second')).toMatchObject({ end: 'succeeded', actor: 'q' });
  const pids = second.pids();
  expect(pids.length).toBeGreaterThanOrEqual(5);
  await client.close();
  await second.close(1_000);
  expect(pids.filter(isAlive)).toEqual([]);
  for (const name of ['ASYA_SQS_ENDPOINT', 'ASYA_DYNAMODB_ENDPOINT']) {
    expect(await answers(second.variables[name] ?? '')).toBe(false);
  }
  await outside.send(['b'], 'still-there');
  expect(await outside.untilEnded('still-there')).toMatchObject({ end: 'succeeded' });
});

test('warns about an actor that cannot run locally, and runs the others', async () => {
  const received: MeshEvent[] = [];
  const odd = aFolder({
    'step.ts': 'export const step = (payload: unknown) => payload;\n',
    'good.yaml': actorYaml('good'),
    'boxed.yaml': `apiVersion: asya.sh/v1alpha1
kind: AsyncActor
metadata: {name: boxed}
spec: {runtime: image, image: "example/boxed:1"}
`,
  });
  const partial = await start(odd, received);
  expect(received).toContainEqual({
    event: 'warning',
    actor: 'boxed',
    text: expect.stringMatching(/"boxed" was not started: it runs in the image "example\/boxed:1"/),
  });
  // The next change does not start it either.
  expect(await partial.apply(manifestIn(odd))).toEqual([]);
  const client = outsideOf(partial.variables);
  await client.send(['good'], 'well');
  expect(await client.untilEnded('well')).toMatchObject({ end: 'succeeded' });
  await client.close();
  await partial.close(1_000);
});

function answers(endpoint: string): Promise<boolean> {
  const { hostname, port } = new URL(endpoint);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

describe('a mesh that cannot be started', () => {
  test('leaves no files behind', async () => {
    const temporary = aFolder({});
    vi.stubEnv('TMPDIR', temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    const [actor, ...others] = manifestIn(folder).actors;
    if (actor === undefined) throw new Error('the mesh has no actor');
    const manifest = { actors: [{ ...actor, name: 'No Queue Has This Name' }, ...others], flows: [] };
    await expect(startMesh({ manifest, folder, replicas: 1, onEvent: () => {} })).rejects.toThrow('No Queue');
    expect(readdirSync(temporary)).toEqual([]);
  });
});
