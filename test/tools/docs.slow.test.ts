import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PAGES } from '../../tools/write-docs.ts';

describe('pages made from code', () => {
  it.each(Object.entries(PAGES))('%s is as `npm run docs` would write it', (path, page) => {
    expect(readFileSync(join(import.meta.dirname, '../..', path), 'utf8')).toBe(page());
  });
});
