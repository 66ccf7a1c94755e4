import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PYTHON, ROOT } from '../sidecar/sidecar-process.ts';

/** Runs the tests of `asya.testing`, which are in Python, with both test runners. */

const FOLDER = join(import.meta.dirname, 'python');
const env = {
  ...process.env,
  PYTHONPATH: join(ROOT, 'runtimes/python'),
  PYTHONDONTWRITEBYTECODE: '1',
};

function python(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(PYTHON, args, { cwd: FOLDER, encoding: 'utf8', env });
  return { status, output: stdout + stderr };
}

const hasPytest = python('-c', 'import pytest').status === 0;

describe('asya.testing', () => {
  it('works with unittest', () => {
    const { status, output } = python('-m', 'unittest');
    expect(output).toMatch(/Ran \d\d tests/);
    expect(status, output).toBe(0);
  });

  it.skipIf(!hasPytest)(`works with pytest${hasPytest ? '' : ', which is not installed'}`, () => {
    const { status, output } = python('-m', 'pytest', '-q', '-p', 'no:cacheprovider');
    expect(output).toMatch(/\d\d passed/);
    expect(status, output).toBe(0);
  });
});
