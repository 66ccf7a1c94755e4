import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * `npm run build`: the package as it is published. Node runs no TypeScript below node_modules, so everything becomes
 * JavaScript; the runtimes are there as they are too, because that is how they are deployed, and so are the templates of
 * `asya init`.
 */

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');

rmSync(DIST, { recursive: true, force: true });
const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
  cwd: ROOT,
  stdio: 'inherit',
});
if (status !== 0) process.exit(1);
const isKept = (path: string) => !path.includes('__pycache__');
for (const folder of ['runtimes', 'templates'])
  cpSync(join(ROOT, folder), join(DIST, folder), { recursive: true, filter: isKept });
// Where the source is the root, the package's own description lies beside it.
cpSync(join(ROOT, 'package.json'), join(DIST, 'package.json'));
