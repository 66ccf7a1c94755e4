import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { PYTHON, ROOT } from '../sidecar/sidecar-process.ts';
import { aFolder } from '../support/a-folder.ts';
import { asya } from './run-asya.ts';

/** A mesh that `asya init` created, with its packages, as `npm install` would install them from a checkout. */
export async function anInstalledMesh(...options: readonly string[]): Promise<string> {
  const cwd = aFolder({});
  const { status, err } = await asya(['init', 'mesh', ...options], { cwd });
  if (status !== 0) throw new Error(err);
  const modules = join(cwd, 'mesh/node_modules');
  mkdirSync(modules);
  symlinkSync(ROOT, join(modules, 'asya-serverless'));
  for (const name of ['@types', 'typescript'])
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  return join(cwd, 'mesh');
}

const run = promisify(execFile);

/** What `npm run` does, without npm. Rejects if the script fails. */
export function runScript(mesh: string, script: string): Promise<{ stdout: string; stderr: string }> {
  const { scripts } = JSON.parse(readFileSync(join(mesh, 'package.json'), 'utf8'));
  const bin = join(ROOT, 'node_modules/.bin');
  const { NODE_OPTIONS: _, ...env } = process.env;
  const PATH = [dirname(process.execPath), bin, dirname(PYTHON), env['PATH']].join(delimiter);
  return run('sh', ['-c', scripts[script]], {
    cwd: mesh,
    env: { ...env, PATH, PYTHONDONTWRITEBYTECODE: '1' },
  });
}
