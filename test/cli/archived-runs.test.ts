import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deriveId } from '../../lib/adapters/system/system.ts';
import { childId } from '../../lib/core/envelope/fan-out.ts';
import { aScene } from '../replay/a-replay.ts';
import { type Backend, startBackend } from './operator-fixture.ts';

/** Runs whose envelopes are archived in one object, or not at all. The real crew records the ends. */

let backend: Backend;
beforeAll(async () => {
  backend = await startBackend();
});
afterAll(() => backend.close());

const FAN_OUT = { actor: 'split', hop: 0, items: 2 };
const CHILD = childId('root', FAN_OUT, 1, deriveId);
const ROOT = JSON.stringify({
  id: 'root',
  route: { prev: ['split', 'score'], curr: '', next: [] },
  payload: { n: 1 },
  status: { fan_out: [FAN_OUT] },
});
const OTHER = JSON.stringify({
  ...JSON.parse(ROOT),
  id: CHILD,
  parent_id: 'root',
  payload: { n: 2 },
  status: {},
});

describe('envelopes in one object', () => {
  async function aMesh() {
    const mesh = await backend.newMesh();
    await Promise.all([ROOT, OTHER].map((body) => mesh.scene.endAs(body, 'score', 'succeeded')));
    return mesh;
  }

  it('are each shown with the object and their key', async () => {
    const { cli } = await aMesh();
    const { out } = await cli('runs', 'show', 'root', '--payload');
    expect(out).toMatch(
      /\narchive {5}s3:\/\/[^/]+\/succeeded\/2026-08-01\/@batches\/[-0-9a-f]{36}\.json\n {12}as "succeeded\/2026-08-01\/score\/root\.json"\n/,
    );
    expect(out).toMatch(/\npayload\n\{"n":1\}$/);
    const json = JSON.parse((await cli('runs', 'show', 'root', '--json')).out);
    expect(json).toMatchObject({
      archiveKey: 'succeeded/2026-08-01/score/root.json',
      archiveBatch: expect.stringMatching(/^succeeded\/2026-08-01\/@batches\//),
      children: [{ id: CHILD, archiveKey: `succeeded/2026-08-01/score/${CHILD}.json` }],
    });
  });

  it('are all awaited and printed', async () => {
    const { cli } = await aMesh();
    const { status, out } = await cli('send', 'score', '--id', 'root', '--wait');
    expect([status, out.split('\n').toSorted()]).toEqual([0, ['{"n":1}', '{"n":2}']]);
  });
});

describe('envelopes that the archive no longer contains', () => {
  const GONE = 'the archive no longer contains it';

  async function aMesh() {
    const mesh = await backend.newMesh();
    const { stores } = mesh.scene;
    for (const body of [ROOT, OTHER]) {
      await mesh.scene.endAs(body, 'score', 'failed');
      const { id } = JSON.parse(body);
      const ends = await stores.records.ofEnvelope(id);
      for (const { archiveKey = '' } of ends.ok ? ends.records : []) await stores.archive.remove(archiveKey);
    }
    return mesh;
  }

  it('are shown without payload and route', async () => {
    const { cli } = await aMesh();
    const { status, out } = await cli('runs', 'show', 'root', '--payload');
    expect([status, out]).toEqual([0, expect.stringContaining(`\nenvelope    ${GONE}`)]);
  });

  it('have ended for asya watch and asya send --wait', async () => {
    const { cli } = await aMesh();
    expect(await cli('watch', 'root')).toMatchObject({
      status: 1,
      out: expect.stringContaining('failed at score'),
    });
    const { status, err } = await cli('send', 'score', '--id', 'root', '--wait');
    expect([status, err]).toEqual([1, expect.stringContaining('root failed at score')]);
  });
});

describe('envelopes that are not archived', () => {
  const NOT_ARCHIVED = 'its payload is not archived, because ASYA_ARCHIVE of this mesh is "failed"';

  async function aMesh() {
    const mesh = await backend.newMesh();
    const scene = aScene(mesh.scene.stores, mesh.scene.clock, { archives: 'failed' });
    for (const body of [ROOT, OTHER]) await scene.endAs(body, 'score', 'succeeded');
    return mesh;
  }

  it('are listed and shown without payload and route, with their children', async () => {
    const { cli } = await aMesh();
    expect((await cli('runs')).out).toMatch(/\nroot +\S+ ago +succeeded +score/);
    const { status, out } = await cli('runs', 'show', 'root', '--payload');
    expect(status).toBe(0);
    expect(out).toContain(`\nenvelope    ${NOT_ARCHIVED}`);
    expect(out).toContain(`${CHILD}  succeeded at score: Completed`);
    expect(out).not.toMatch(/\n(archive|payload|route) /);
    const json = JSON.parse((await cli('runs', 'show', 'root', '--json', '--payload')).out);
    expect(json).toMatchObject({ id: 'root', phase: 'succeeded', children: [{ id: CHILD }] });
    for (const key of ['archiveKey', 'payload', 'route']) expect(json).not.toHaveProperty(key);
  });

  it('are all awaited, without printing a payload', async () => {
    const { cli } = await aMesh();
    const { status, out, err } = await cli('send', 'score', '--id', 'root', '--wait');
    expect([status, out]).toEqual([0, '']);
    expect(err).toContain(`root succeeded at score: Completed; ${NOT_ARCHIVED}`);
    expect(err).toContain(`${CHILD} (child) succeeded at score: Completed; ${NOT_ARCHIVED}`);
  });

  it('are followed to the end by asya watch', async () => {
    const { cli } = await aMesh();
    expect(await cli('watch', 'root')).toMatchObject({
      status: 0,
      out: expect.stringContaining(`└─ ${CHILD}  succeeded at score`),
    });
  });
});
