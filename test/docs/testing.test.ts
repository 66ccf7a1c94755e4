import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { PYTHON, ROOT } from '../sidecar/sidecar-process.ts';
import { aFolder } from '../support/a-folder.ts';

/** Runs every example of docs/testing.md, in a mesh of a checkout. */

const PAGE = readFileSync(join(ROOT, 'docs/testing.md'), 'utf8');
const BLOCKS = [...PAGE.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)].map(([, language = '', text = '']) => ({
  language,
  text,
}));

/** The code blocks that begin with a file name, by that name. */
const FILES = Object.fromEntries(
  BLOCKS.flatMap(({ text }) => {
    const [, name] = /^(?:#|\/\/) (\S+\.\w+)\n/.exec(text) ?? [];
    return name === undefined ? [] : [[name, text]];
  }),
);

function aMesh(): string {
  const folder = aFolder({ ...FILES, 'package.json': '{"type":"module"}' });
  mkdirSync(join(folder, 'node_modules'));
  for (const name of ['asya-serverless', 'vitest'])
    symlinkSync(
      name === 'vitest' ? join(ROOT, 'node_modules/vitest') : ROOT,
      join(folder, 'node_modules', name),
    );
  return folder;
}

const run = promisify(execFile);
const { NODE_OPTIONS: _, ...env } = process.env;
const PATH = [dirname(process.execPath), dirname(PYTHON), env['PATH']].join(delimiter);

function shell(cwd: string, command: string, more: Readonly<Record<string, string>> = {}) {
  return run('sh', ['-ec', command], { cwd, env: { ...env, PATH, PYTHONDONTWRITEBYTECODE: '1', ...more } });
}

const COMMANDS = BLOCKS.filter(({ language }) => language === 'sh').map(({ text }) => text.trim());

it('has no block that no test runs', () => {
  expect(Object.keys(FILES)).toHaveLength(BLOCKS.length - COMMANDS.length);
  expect(COMMANDS).toEqual(['node --test', 'python3 -m unittest']);
});

it('has tests for node:test that pass', async () => {
  // In a checkout the package has no build.
  const { stdout } = await shell(aMesh(), 'node --conditions=asya-source --test');
  expect(stdout).toMatch(/pass 10\n.*fail 0\n/);
});

it('has tests for vitest that pass', async () => {
  const mesh = aMesh();
  // In a checkout the package has no build.
  const alias = Object.fromEntries(
    ['handler', 'testing'].map((name) => [`asya-serverless/${name}`, join(ROOT, `lib/${name}/index.ts`)]),
  );
  writeFileSync(
    join(mesh, 'vitest.config.mjs'),
    `export default { test: { include: ['*.vitest.ts'], alias: ${JSON.stringify(alias)} } };\n`,
  );
  const { stdout } = await shell(mesh, `node '${join(ROOT, 'node_modules/vitest/vitest.mjs')}' run`);
  expect(stdout).toMatch(/Tests .*1 passed/);
});

it('has tests for Python that pass', async () => {
  const PYTHONPATH = join(ROOT, 'runtimes/python');
  const { stderr } = await shell(aMesh(), 'python3 -m unittest', { PYTHONPATH });
  expect(stderr).toMatch(/Ran 3 tests[\s\S]*OK/);
});
