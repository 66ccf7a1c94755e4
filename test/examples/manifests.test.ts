import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readMesh } from '../../lib/assembly/mesh/read-mesh.ts';
import { EXAMPLES, readExample } from './example-mesh.ts';

const MESHES = ['hello', 'image-enhance', 'resilience-lab'];
/** Examples without a manifest. */
const OTHERS = ['cloud-run', 'pipeline', 'two-containers'];

describe('the examples', () => {
  it('are all listed in this test', () => {
    expect(readdirSync(EXAMPLES).toSorted()).toEqual([...MESHES, ...OTHERS].toSorted());
  });

  it.each(MESHES)('%s: no mistakes, no warnings', (name) => {
    expect(readMesh(join(EXAMPLES, name))).toMatchObject({ manifest: expect.anything(), warnings: [] });
  });

  it.each(MESHES)('%s: every flow has a description and a timeout', (name) => {
    const { flows } = readExample(join(EXAMPLES, name));
    for (const flow of flows)
      expect(flow).toMatchObject({ description: expect.any(String), timeoutSeconds: expect.any(Number) });
  });
});

describe('image-enhance', () => {
  const { actors, flows } = readExample(join(EXAMPLES, 'image-enhance'));

  it('has actor timeouts of 1, 3 and 1 minutes, and a flow timeout of 360 s', () => {
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

describe('outcomes.json of resilience-lab', () => {
  const folder = join(EXAMPLES, 'resilience-lab');
  const { actors, flows } = readExample(folder);
  const outcomes: readonly Record<string, unknown>[] = JSON.parse(
    readFileSync(join(folder, 'outcomes.json'), 'utf8'),
  );

  it('has one entry per flow', () => {
    expect(outcomes.map(({ flow }) => flow)).toEqual(flows.map(({ name }) => name));
  });

  it('names existing actors and archive folders', () => {
    for (const outcome of outcomes) {
      expect(actors.map(({ name }) => name)).toContain(outcome['actor']);
      expect(['succeeded', 'failed', 'dlq']).toContain(outcome['folder']);
      expect(outcome).toMatchObject({ payload: expect.anything(), ends: expect.any(Number) });
    }
  });
});
