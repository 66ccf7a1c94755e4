import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'lib/core/README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

describe('documentation', () => {
  it.each(PAGES)('%s names source files that exist', (page) => {
    const named = [
      ...read(page).matchAll(/`((?:lib|functions|infra|runtimes|tools|test|bench)\/[\w./-]+\.(?:ts|py))`/g),
    ];
    const missing = named
      .map(([, path = '']) => path)
      .filter((path) => !path.includes('NAME') && !existsSync(join(ROOT, path)));
    expect(missing).toEqual([]);
  });

  it('is indexed completely in docs/README.md', () => {
    const index = read('docs/README.md');
    const pages = readdirSync(join(ROOT, 'docs')).filter(
      (name) => name.endsWith('.md') && name !== 'README.md',
    );
    expect(pages.filter((name) => !index.includes(`(${name})`))).toEqual([]);
  });

  it('describes every file of lib/core in its README', () => {
    const text = read('lib/core/README.md');
    const files = readdirSync(join(ROOT, 'lib/core'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    expect(files.length).toBeGreaterThan(50);
    expect(files.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });
});
