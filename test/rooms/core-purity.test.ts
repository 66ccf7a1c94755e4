import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const PROJECT = join(import.meta.dirname, '../..');

/** Code that is not allowed in lib/core, and the tool that rejects it. */
const IMPURE: readonly (readonly [string, string, 'linter' | 'types'])[] = [
  ['the clock', 'export const at = () => Date.now();', 'linter'],
  ['the clock through new Date', 'export const at = () => new Date();', 'linter'],
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

type Tool = (typeof IMPURE)[number][2];

const TOOLS: Readonly<Record<Tool, readonly [string, ...string[]]>> = {
  linter: ['biome', 'lint', '--max-diagnostics=none', 'lib/core'],
  types: ['tsc', '-p', 'lib/core/tsconfig.json'],
};

const fileOf = (index: number) => `planted-${index}.ts`;
const HARMLESS = 'planted-harmless.ts';

describe('lib/core', () => {
  let copy = '';
  /** The output of each tool with all violations at once: a run for each of them would take a minute. */
  const output: Record<Tool, string> = { linter: '', types: '' };

  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'asya-core-'));
    for (const path of ['lib/core', 'package.json', 'tsconfig.base.json', 'biome.json', '.gitignore']) {
      cpSync(join(PROJECT, path), join(copy, path), { recursive: true });
    }
    symlinkSync(join(PROJECT, 'node_modules'), join(copy, 'node_modules'));
    spawnSync('git', ['init', '-q'], { cwd: copy });
    writeFileSync(join(copy, 'lib/core', HARMLESS), 'export const one = 1;\n');
    for (const name of ['linter', 'types'] as const) output[name] = withPlanted(name);
  });
  afterAll(() => rmSync(copy, { recursive: true }));

  function withPlanted(name: Tool): string {
    const planted = IMPURE.map(([, text, by], index) => ({
      text,
      by,
      path: join(copy, 'lib/core', fileOf(index)),
    }));
    const own = planted.filter(({ by }) => by === name);
    for (const { text, path } of own) writeFileSync(path, `${text}\n`);
    const [tool, ...args] = TOOLS[name];
    const { status, stdout, stderr } = spawnSync(join(PROJECT, 'node_modules/.bin', tool), args, {
      cwd: copy,
      encoding: 'utf8',
    });
    for (const { path } of own) rmSync(path);
    expect(status).not.toBe(0);
    return stdout + stderr;
  }

  it.each(['linter', 'types'] as const)('has no violations that the %s reports', (name) => {
    const reported = [...output[name].matchAll(/^lib\/core\/([\w/-]+\.ts)[:(]/gm)].map(
      ([, file = '']) => file,
    );
    expect(reported.length).toBeGreaterThan(0);
    expect(reported.filter((file) => !/^planted-\d+\.ts$/.test(file))).toEqual([]);
  });

  it.each(IMPURE.map((row, index) => [...row, index] as const))(
    'cannot use %s: %s is rejected by the %s',
    (_what, _text, name, index) => {
      expect(output[name]).toContain(fileOf(index));
    },
  );

  it('is synchronous and does not use Math.random', () => {
    const files = readdirSync(join(PROJECT, 'lib/core'), { recursive: true, encoding: 'utf8' });
    const sources = files.filter((file) => file.endsWith('.ts'));
    expect(sources.length).toBeGreaterThan(50);
    const impure = sources.filter((file) =>
      /\b(async|await|Math\.random)\b/.test(codeOf(join(PROJECT, 'lib/core', file))),
    );
    expect(impure).toEqual([]);
  });
});

function codeOf(path: string): string {
  return readFileSync(path, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}
