import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PAGES } from '../../tools/write-docs.ts';

describe('generated pages', () => {
  it.each(Object.entries(PAGES))('%s matches the output of `npm run docs`', (path, page) => {
    expect(readFileSync(join(import.meta.dirname, '../..', path), 'utf8')).toBe(page());
  });
});
