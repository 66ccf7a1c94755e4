import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = globSync('{*,.github/*,{docs,examples,functions,infra,lib,runtimes,templates,test}/**/*}.md', {
  cwd: ROOT,
  exclude: ['**/.asya/**', '**/node_modules/**'],
});

const withoutCode = (text: string) => text.replace(/^```.*?^```/gms, '').replace(/`[^`\n]*`/g, '');

/** The anchors that GitHub derives from a page's headings. */
function anchors(path: string): readonly string[] {
  const text = readFileSync(join(ROOT, path), 'utf8').replace(/^```.*?^```/gms, '');
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function brokenLinks(page: string): readonly string[] {
  const text = withoutCode(readFileSync(join(ROOT, page), 'utf8'));
  return [...text.matchAll(/\]\((?![a-z]+:)([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? page : join(dirname(page), file);
      if (!existsSync(join(ROOT, target))) return true;
      return anchor !== undefined && target.endsWith('.md') && !anchors(target).includes(anchor);
    });
}

it.each(PAGES)('%s links to pages and headings that exist', (page) => {
  expect(brokenLinks(page)).toEqual([]);
});
