import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const PROJECT = join(import.meta.dirname, '../..');

/** What lib/core must not reach for, and the fence that says so. */
const IMPURE: readonly (readonly [string, string, 'linter' | 'types'])[] = [
  ['the clock', 'export const at = () => Date.now();', 'linter'],
  ['the clock, made', 'export const at = () => new Date();', 'linter'],
  ['a timer', 'export const later = () => setTimeout(() => {}, 1);', 'linter'],
  ['the environment', 'export const env = () => process.env;', 'linter'],
  ['the log', "export const log = () => console.log('x');", 'linter'],
  ['a promise', 'export const soon = () => Promise.resolve(1);', 'linter'],
  ['the network', "export const get = () => fetch('http://127.0.0.1');", 'linter'],
  ['the environment', 'export const env = () => process.env;', 'types'],
  ['a buffer', "export const bytes = () => Buffer.from('x');", 'types'],
  ['a timer', 'export const later = () => setTimeout(() => {}, 1);', 'types'],
  ['the log', "export const log = () => console.log('x');", 'types'],
  ['a web API', "export const url = () => new URL('http://x');", 'types'],
];

describe('lib/core', () => {
  let copy = '';
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'asya-core-'));
    for (const path of ['lib/core', 'package.json', 'tsconfig.base.json', 'biome.json', '.gitignore']) {
      cpSync(join(PROJECT, path), join(copy, path), { recursive: true });
    }
    symlinkSync(join(PROJECT, 'node_modules'), join(copy, 'node_modules'));
    spawnSync('git', ['init', '-q'], { cwd: copy });
  });
  afterAll(() => rmSync(copy, { recursive: true }));

  function refuses(fence: 'linter' | 'types', text: string): boolean {
    const planted = join(copy, 'lib/core/planted.ts');
    writeFileSync(planted, `${text}\n`);
    const [tool, ...args] =
      fence === 'linter' ? ['biome', 'lint', 'lib/core/planted.ts'] : ['tsc', '-p', 'lib/core/tsconfig.json'];
    const { status, stdout, stderr } = spawnSync(join(PROJECT, 'node_modules/.bin', tool ?? ''), args, {
      cwd: copy,
      encoding: 'utf8',
    });
    rmSync(planted);
    return status !== 0 && `${stdout}${stderr}`.includes('planted.ts');
  }

  it.each(['linter', 'types'] as const)('is left alone by the %s where nothing is wrong', (fence) => {
    expect(refuses(fence, 'export const one = 1;')).toBe(false);
  });

  it.each(IMPURE)('may not reach for %s: %s, says the %s', (_what, text, fence) => {
    expect(refuses(fence, text)).toBe(true);
  });

  it('is synchronous and rolls no dice', () => {
    const impure = readdirSync(join(PROJECT, 'lib/core'))
      .filter((name) => name.endsWith('.ts'))
      .filter((name) => /\b(async|await|Math\.random)\b/.test(codeOf(join(PROJECT, 'lib/core', name))));
    expect(impure).toEqual([]);
  });
});

function codeOf(path: string): string {
  return readFileSync(path, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}
