import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/performance.md'), 'utf8');
const OPTIONS = ['--json', '--markdown', '--list'];

function bench(...args: readonly string[]) {
  return spawnSync(process.execPath, ['bench/run.ts', ...args], { cwd: ROOT, encoding: 'utf8' });
}

const LISTED = bench('--list').stdout.trim().split('\n');

test('the commands of the page name benchmarks that exist', () => {
  const commands = [...PAGE.matchAll(/^npm run bench(?: -- (.*?))?(?: +#.*)?$/gm)].map(
    ([, args = '']) => args,
  );
  expect(commands.length).toBeGreaterThan(3);
  const words = commands.flatMap((args) => args.split(' ').filter((word) => word !== ''));
  expect(words.filter((word) => word.startsWith('--') && !OPTIONS.includes(word))).toEqual([]);
  const names = words.filter((word) => /^[a-z]+$/.test(word));
  expect(names).toContain('lambda');
  expect(names.filter((name) => !LISTED.includes(name))).toEqual([]);
});

test('a benchmark that does not exist is an error that lists the others', () => {
  const { status, stderr } = bench('lamda');
  expect(status).toBe(1);
  expect(stderr).toContain(`there is no benchmark "lamda"; the benchmarks are ${LISTED.join(', ')}`);
});
