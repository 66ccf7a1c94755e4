import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../sidecar/sidecar-process.ts';
import { aFolder } from '../support/a-folder.ts';
import { asyaAtNoon as asya } from './run-asya.ts';

function page(name: string): string {
  return readFileSync(join(ROOT, 'docs', name), 'utf8');
}

/** The files of the example in docs/manifest.md. The first line of each code block is its path. */
function exampleMesh(): Readonly<Record<string, string>> {
  const example = page('manifest.md').split('## An example')[1]?.split('\n## ')[0] ?? '';
  const blocks = [...example.matchAll(/^```\w+\n(?:#|\/\/) (\S+)\n([\s\S]*?)^```/gm)];
  return Object.fromEntries(blocks.map(([, path = '', text = '']) => [`my-mesh/${path}`, text]));
}

/** Splits a command line. Quoted text is one argument. */
function argumentsOf(command: string): readonly string[] {
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

it('prints what docs/simulate.md shows', async () => {
  const folder = aFolder(exampleMesh());
  const shown = [...page('simulate.md').matchAll(/^```sh\nnpx asya (.*)\n```\n\n```\n([\s\S]*?)^```/gm)];
  expect(shown).toHaveLength(3);
  for (const [, command = '', output] of shown) {
    const { status, out } = await asya(folder, ...argumentsOf(command));
    expect(status).toBe(0);
    expect(`${out}\n`, command).toBe(output);
  }
});
