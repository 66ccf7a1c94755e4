import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/performance.md'), 'utf8');
const OPTIONS = ['--json', '--markdown', '--list', '--help'];

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

test.each([
  [['lamda'], 'there is no benchmark "lamda"; did you mean "lambda"?'],
  [['everything'], `there is no benchmark "everything"; the benchmarks are ${LISTED.join(', ')}`],
  [['--lst'], "Unknown option '--lst'"],
  [['--json'], "Option '--json <value>' argument missing"],
  [['--json', '/no-such-folder/x.json'], 'the folder /no-such-folder does not exist'],
])('a wrong command line ends before anything runs: %j', (args, problem) => {
  const { status, stdout, stderr } = bench(...args);
  expect([status, stdout]).toEqual([2, '']);
  expect(stderr).toContain(problem);
  expect(stderr).not.toContain('    at ');
});

test('--help describes every benchmark', () => {
  const { status, stdout } = bench('--help');
  expect(status).toBe(0);
  for (const name of LISTED) expect(stdout).toMatch(new RegExp(`^  ${name} +[a-z]`, 'm'));
});
