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

type Fence = (typeof IMPURE)[number][2];

const TOOLS: Readonly<Record<Fence, readonly [string, ...string[]]>> = {
  linter: ['biome', 'lint', '--max-diagnostics=none', 'lib/core'],
  types: ['tsc', '-p', 'lib/core/tsconfig.json'],
};

const fileOf = (index: number) => `planted-${index}.ts`;
const HARMLESS = 'planted-harmless.ts';

describe('lib/core', () => {
  let copy = '';
  /** What each fence says with everything planted at once: a run for each plant would take a minute. */
  const said: Record<Fence, string> = { linter: '', types: '' };

  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'asya-core-'));
    for (const path of ['lib/core', 'package.json', 'tsconfig.base.json', 'biome.json', '.gitignore']) {
      cpSync(join(PROJECT, path), join(copy, path), { recursive: true });
    }
    symlinkSync(join(PROJECT, 'node_modules'), join(copy, 'node_modules'));
    spawnSync('git', ['init', '-q'], { cwd: copy });
    writeFileSync(join(copy, 'lib/core', HARMLESS), 'export const one = 1;\n');
    for (const fence of ['linter', 'types'] as const) said[fence] = withPlanted(fence);
  });
  afterAll(() => rmSync(copy, { recursive: true }));

  function withPlanted(fence: Fence): string {
    const planted = IMPURE.map(([, text, by], index) => ({
      text,
      by,
      path: join(copy, 'lib/core', fileOf(index)),
    }));
    const own = planted.filter(({ by }) => by === fence);
    for (const { text, path } of own) writeFileSync(path, `${text}\n`);
    const [tool, ...args] = TOOLS[fence];
    const { status, stdout, stderr } = spawnSync(join(PROJECT, 'node_modules/.bin', tool), args, {
      cwd: copy,
      encoding: 'utf8',
    });
    for (const { path } of own) rmSync(path);
    expect(status).not.toBe(0);
    return stdout + stderr;
  }

  it.each(['linter', 'types'] as const)('is left alone by the %s where nothing is wrong', (fence) => {
    const complainedOf = [...said[fence].matchAll(/^lib\/core\/([\w-]+\.ts)[:(]/gm)].map(
      ([, name = '']) => name,
    );
    expect(complainedOf.length).toBeGreaterThan(0);
    expect(complainedOf.filter((name) => !/^planted-\d+\.ts$/.test(name))).toEqual([]);
  });

  it.each(IMPURE.map((row, index) => [...row, index] as const))(
    'may not reach for %s: %s, says the %s',
    (_what, _text, fence, index) => {
      expect(said[fence]).toContain(fileOf(index));
    },
  );

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
