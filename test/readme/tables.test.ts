import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: ROOT })];

describe('a table in Markdown ends with a blank line', () => {
  it.each(PAGES)('%s', (path) => {
    // Markdown renders a line directly after a row as another row.
    const lines = readFileSync(join(ROOT, path), 'utf8').split('\n');
    const swallowed = lines.filter(
      (line, index) => lines[index - 1]?.startsWith('|') && line !== '' && !/^(\||<!--)/.test(line),
    );
    expect(swallowed).toEqual([]);
  });
});
