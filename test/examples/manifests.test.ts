import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readMesh } from '../../lib/assembly/mesh/read-mesh.ts';
import { EXAMPLES, readExample } from './example-mesh.ts';

const MESHES = ['hello', 'image-enhance', 'resilience-lab'];
/** Containers for a sidecar of one's own, a consumer without any: no mesh's folders. */
const NO_MESHES = ['cloud-run', 'pipeline', 'two-containers'];

describe('the examples', () => {
  it('are all known here', () => {
    expect(readdirSync(EXAMPLES).toSorted()).toEqual([...MESHES, ...NO_MESHES].toSorted());
  });

  it.each(MESHES)('%s: no mistakes, no warnings', (name) => {
    expect(readMesh(join(EXAMPLES, name))).toMatchObject({ manifest: expect.anything(), warnings: [] });
  });

  it.each(MESHES)('%s: every flow tells what it is for and how long it may take', (name) => {
    const { flows } = readExample(join(EXAMPLES, name));
    for (const flow of flows)
      expect(flow).toMatchObject({ description: expect.any(String), timeoutSeconds: expect.any(Number) });
  });
});

describe('image-enhance', () => {
  const { actors, flows } = readExample(join(EXAMPLES, 'image-enhance'));

  it('has the timeouts of its source: 1, 3 and 1 minutes, and 360 s for the whole way', () => {
    expect(actors.map(({ name, timeoutMs }) => [name, timeoutMs / 60_000])).toEqual([
      ['download-image', 1],
      ['enhance-image', 3],
      ['upload-image', 1],
    ]);
    expect(flows).toEqual([
      {
        name: 'image-enhance',
        entrypoint: 'download-image',
        routeNext: ['enhance-image', 'upload-image'],
        description: 'Makes a picture sharper',
        timeoutSeconds: 360,
        mcp: {
          inputSchema: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
        },
      },
    ]);
  });
});

describe("resilience-lab's fates", () => {
  const folder = join(EXAMPLES, 'resilience-lab');
  const { actors, flows } = readExample(folder);
  const fates: readonly Record<string, unknown>[] = JSON.parse(
    readFileSync(join(folder, 'fates.json'), 'utf8'),
  );

  it('are told once for each flow', () => {
    expect(fates.map(({ flow }) => flow)).toEqual(flows.map(({ name }) => name));
  });

  it('end at actors that are there, in folders that the archive has', () => {
    for (const fate of fates) {
      expect(actors.map(({ name }) => name)).toContain(fate['actor']);
      expect(['succeeded', 'failed', 'dlq']).toContain(fate['folder']);
      expect(fate).toMatchObject({ payload: expect.anything(), ends: expect.any(Number) });
    }
  });
});
