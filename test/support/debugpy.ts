import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A folder for the PATH with a Python that has debugpy, or the reason why there is none. */
export type Debugpy = { readonly path: string; remove(): void } | { readonly absence: string };

/** A new virtual environment. It has no packages. */
export async function emptyPython(): Promise<Debugpy> {
  const folder = mkdtempSync(join(tmpdir(), 'asya-venv-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    await run('python3', ['-m', 'venv', '--without-pip', folder], { timeout: 60_000 });
  } catch (error) {
    remove();
    return { absence: `no virtual environment can be created: ${firstLine(error)}` };
  }
  return { path: [join(folder, 'bin'), process.env['PATH'] ?? ''].join(delimiter), remove };
}

/** A new virtual environment with debugpy from PyPI. */
export async function pythonWithDebugpy(): Promise<Debugpy> {
  const python = await emptyPython();
  if ('absence' in python) return python;
  const [bin = ''] = python.path.split(delimiter);
  const target = (await run(join(bin, 'python3'), ['-c', SITE_PACKAGES])).stdout.trim();
  const install = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--retries',
    '1',
    '--timeout',
    '20',
    '--target',
    target,
  ];
  try {
    await run('python3', [...install, 'debugpy'], { timeout: 120_000 });
  } catch (error) {
    python.remove();
    return { absence: `debugpy cannot be installed from PyPI: ${firstLine(error)}` };
  }
  return python;
}

const SITE_PACKAGES = 'import sysconfig; print(sysconfig.get_path("purelib"))';

function firstLine(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
}
