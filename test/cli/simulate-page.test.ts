import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../sidecar/sidecar-process.ts';
import { aFolder } from '../support/a-folder.ts';
import { asyaAtNoon as asya } from './a-terminal.ts';

function page(name: string): string {
  return readFileSync(join(ROOT, 'docs', name), 'utf8');
}

/** The files of the manifest's example, each under the name in its first line. */
function exampleMesh(): Readonly<Record<string, string>> {
  const example = page('manifest.md').split('## An example')[1]?.split('\n## ')[0] ?? '';
  const blocks = [...example.matchAll(/^```\w+\n(?:#|\/\/) (\S+)\n([\s\S]*?)^```/gm)];
  return Object.fromEntries(blocks.map(([, path = '', text = '']) => [`my-mesh/${path}`, text]));
}

/** What stands in quotes is one word. */
function wordsOf(command: string): readonly string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

it('prints what docs/simulate.md shows', async () => {
  const folder = aFolder(exampleMesh());
  const shown = [...page('simulate.md').matchAll(/^```sh\nnpx asya (.*)\n```\n\n```\n([\s\S]*?)^```/gm)];
  expect(shown).toHaveLength(3);
  for (const [, command = '', output] of shown) {
    const { status, out } = await asya(folder, ...wordsOf(command));
    expect(status).toBe(0);
    expect(`${out}\n`, command).toBe(output);
  }
});
