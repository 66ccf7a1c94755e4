import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * `npm run build`: builds the package for npm. Node does not run TypeScript inside node_modules, so everything is
 * compiled to JavaScript. The sources of the runtimes and the templates of `asya init` are copied as well, because they
 * are deployed unchanged.
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
/** Python writes these folders into the sources. */
const isKept = (path: string) => !/__pycache__|\.egg-info|runtimes.python.build/.test(path);
for (const folder of ['runtimes', 'templates'])
  cpSync(join(ROOT, folder), join(DIST, folder), { recursive: true, dereference: true, filter: isKept });
// Compiled code looks for package.json in its root folder, as the sources do.
cpSync(join(ROOT, 'package.json'), join(DIST, 'package.json'));
