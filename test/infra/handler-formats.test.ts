import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleHandler, bundleRuntime } from '../../infra/code/bundle.ts';
import { ROOT } from '../sidecar/sidecar-process.ts';

/** What a handler's file may contain, and what is deployed for it. */

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'asya-bundle-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function bundle(files: Readonly<Record<string, string>>) {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return bundleHandler(join(folder, Object.keys(files)[0] ?? ''), folder);
}

/** What the bundle's `run` returns, in a process of its own. */
async function resultOf(files: Readonly<Record<string, string>>): Promise<unknown> {
  const { format, text } = bundle(files);
  const file = join(folder, format === 'cjs' ? 'handler.cjs' : 'handler.mjs');
  writeFileSync(file, text);
  const script = `const { run } = await import(process.argv[1]); console.log(JSON.stringify(await run()))`;
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', script, file], { encoding: 'utf8' }),
  );
}

const COMMON_JS: readonly (readonly [string, Readonly<Record<string, string>>, unknown])[] = [
  ['types', { 'a.ts': 'export const run = (): number => 1;' }, 1],
  [
    'a file of its own',
    { 'a.ts': `export { run } from './b.ts';`, 'b.ts': 'export const run = () => 2;' },
    2,
  ],
  [
    'import.meta',
    {
      'a.ts': `import { fileURLToPath } from 'node:url';
export const run = () => [fileURLToPath(import.meta.url) === import.meta.filename, import.meta.filename.startsWith(import.meta.dirname), import.meta.main];`,
    },
    [true, true, false],
  ],
  [
    'a dynamic import of its own file',
    {
      'a.ts': `export const run = async () => (await import('./b.ts')).b;`,
      'b.ts': 'export const b = 3;',
    },
    3,
  ],
  [
    'a dynamic import of a module of Node',
    { 'a.ts': `export const run = async () => (await import('node:' + 'path')).posix.sep;` },
    '/',
  ],
  [
    'a CommonJS package',
    {
      'a.mjs': `import { b } from './node_modules/b/index.js'; export const run = () => b();`,
      'node_modules/b/index.js': `const { sep } = require('node:path'); exports.b = () => sep;`,
    },
    '/',
  ],
  ['CommonJS itself', { 'a.cjs': 'exports.run = () => 4;' }, 4],
  [
    'strict mode',
    { 'a.ts': 'export const run = () => (function () { return this === undefined; })();' },
    true,
  ],
  [
    'the names of classes',
    { 'a.ts': 'class OddError extends Error {} export const run = () => OddError.name;' },
    'OddError',
  ],
];

const MODULES: readonly (readonly [string, Readonly<Record<string, string>>, unknown])[] = [
  [
    'await outside of functions',
    { 'a.ts': 'const n = await Promise.resolve(5); export const run = () => n;' },
    5,
  ],
  [
    'await outside of functions in an imported file',
    { 'a.ts': `export { run } from './b.ts';`, 'b.ts': 'const n = await 6; export const run = () => n;' },
    6,
  ],
  ['import.meta.resolve', { 'a.ts': `export const run = () => import.meta.resolve('node:fs');` }, 'node:fs'],
];

describe('a handler is deployed as CommonJS with', () => {
  it.each(COMMON_JS)('%s', async (_title, files, result) => {
    expect(bundle(files).format).toBe('cjs');
    expect(await resultOf(files)).toEqual(result);
  });
});

describe('a handler is deployed as an ES module with', () => {
  it.each(MODULES)('%s', async (_title, files, result) => {
    expect(bundle(files).format).toBe('esm');
    expect(await resultOf(files)).toEqual(result);
  });
});

it('a handler that cannot be bundled is rejected, although it uses await outside of functions', () => {
  expect(() => bundle({ 'a.ts': `await 1; import './missing.ts';` })).toThrow(/missing/);
});

it('the runtime is one file that loads no server before it is needed', () => {
  const text = bundleRuntime(join(ROOT, 'runtimes/node/asya-runtime.ts'), ROOT);
  expect(text).not.toMatch(/^(import|export)\b/m);
  expect(text).not.toContain('require("node:http")');
  expect(text.length).toBeLessThan(60_000);
});
