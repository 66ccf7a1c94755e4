import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readMesh } from '../../../lib/assembly/mesh/read-mesh.ts';
import { aFolder } from '../../support/a-folder.ts';
import { mistakesIn } from './a-mesh.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/manifest.md'), 'utf8');

/** The code blocks that begin with a file name, by that name. */
const FILES = Object.fromEntries(
  [...PAGE.matchAll(/^```\w+\n(?:#|\/\/) (\S+\.\w+)\n([\s\S]*?)^```/gm)].map(([, path = '', text = '']) => [
    path,
    text,
  ]),
);

describe('docs/manifest.md', () => {
  it('has a valid example without warnings', () => {
    expect(Object.keys(FILES)).toEqual(['score.yaml', 'store.yaml', 'flows.yaml', 'score.ts', 'steps.py']);
    const reading = readMesh(aFolder(FILES));
    expect(reading).toMatchObject({
      manifest: { actors: { length: 3 }, flows: { length: 1 } },
      warnings: [],
    });
    expect(PAGE).toContain('\n3 actors, 1 flow: valid\n');
  });

  it('shows mistakes as they are printed', () => {
    const { 'score.yaml': score = '', 'flows.yaml': flows = '', 'store.yaml': store = '' } = FILES;
    const lines = mistakesIn({
      'flows.yaml': flows.replace('entrypoint: score', 'entrypoint: scor'),
      'score.yaml': score.replace('30s', '5 minutes'),
      'store.yaml': store,
    });
    expect(PAGE).toContain(`\n  ${lines.join('\n  ')}\n`);
  });
});
