import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const out = mkdtempSync(join(tmpdir(), 'asya-api-'));
afterAll(() => rmSync(out, { recursive: true, force: true }));

it('npm run api writes a page for every module that the package exports, without warnings', () => {
  execFileSync(process.execPath, [join(ROOT, 'tools/api-pages.ts'), out], { cwd: ROOT, stdio: 'pipe' });
  const pages = readdirSync(join(out, 'modules'));
  for (const path of Object.keys(exports)) {
    const name = `asya-serverless${path.slice(1)}`.replaceAll('/', '_');
    const [before = '', after = ''] = name.split('*');
    expect(pages).toContainEqual(expect.stringMatching(new RegExp(`^${before}.*${after}\\.html$`)));
  }
});
