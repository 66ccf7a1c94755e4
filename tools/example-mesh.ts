import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files of the example in docs/manifest.md, by path. The first line of each code block is its path. */
export function exampleMesh(root: string): Readonly<Record<string, string>> {
  const page = readFileSync(join(root, 'docs/manifest.md'), 'utf8');
  const example = page.split('## An example')[1]?.split('\n## ')[0] ?? '';
  const blocks = [...example.matchAll(/^```\w+\n(?:#|\/\/) (\S+)\n([\s\S]*?)^```/gm)];
  return Object.fromEntries(blocks.map(([, path = '', text = '']) => [`my-mesh/${path}`, text]));
}
