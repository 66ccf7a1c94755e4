import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pythonDockerfile } from '../../infra/code/dockerfile.ts';
import { IN_FUNCTION, PYTHON_OF_IMAGE } from '../../lib/config/plan/lambda-environment.ts';
import { aFolder } from '../support/a-folder.ts';
import { LANGUAGES, PYTHON } from './languages.ts';
import { cleanEnvironment } from './runtime-process.ts';

/** What makes the Python runtime start fast. */

const RUNTIME = dirname(PYTHON.script);
const env = { ...cleanEnvironment(), PYTHONPATH: RUNTIME };

function python(...args: readonly string[]) {
  return spawnSync(PYTHON.command, args, { encoding: 'utf8', cwd: join(import.meta.dirname, 'python'), env });
}

describe.runIf(LANGUAGES.includes(PYTHON))('python runtime', () => {
  it("reads a handler's parameters as inspect does", () => {
    const { status, stderr } = python('-m', 'unittest', 'test_parameters');
    expect(stderr).toMatch(/Ran 3 tests/);
    expect(status, stderr).toBe(0);
  });

  it('imports no module that only some calls need', () => {
    const { stdout } = python('-S', '-c', 'import asya_runtime, sys; print("\\n".join(sys.modules))');
    const imported = stdout.split('\n');
    expect(imported).toContain('json');
    const slow =
      /^(asyncio|contextlib|dataclasses|http|importlib\.util|inspect|logging|socket|socketserver|traceback|typing|urllib)\b/;
    expect(imported.filter((name) => slow.test(name))).toEqual([]);
  });

  it('starts from the bytecode that the Dockerfile of an actor writes', () => {
    const folder = aFolder({
      'app/score.py': 'def score(payload): return payload\n',
      'app/template.py': 'def {{ name }}(payload): return payload\n',
    });
    for (const name of [IN_FUNCTION.pythonRuntime, IN_FUNCTION.pythonStart])
      cpSync(join(RUNTIME, name), join(folder, name));
    const compile = pythonDockerfile('none')
      .split('\n')
      .find((line) => line.includes('compileall'));
    const command = compile?.replace(/^RUN /, '').replaceAll(PYTHON_OF_IMAGE, PYTHON.command) ?? '';
    execFileSync('/bin/sh', ['-c', command], { cwd: folder, env: cleanEnvironment() });
    // Neither source can be compiled, and their times differ from when the bytecode was written.
    for (const name of [IN_FUNCTION.pythonRuntime, 'app/score.py']) {
      writeFileSync(join(folder, name), 'not Python');
      utimesSync(join(folder, name), 1, 1);
    }
    const { status, stderr } = spawnSync(PYTHON.command, [`../${IN_FUNCTION.pythonStart}`, 'score.missing'], {
      encoding: 'utf8',
      cwd: join(folder, 'app'),
      env: cleanEnvironment(),
    });
    expect(stderr).toBe(
      'asya-runtime: cannot host "score.missing": "score" has no "missing"; did you mean "score"?\n',
    );
    expect(status).toBe(1);
  });
});
