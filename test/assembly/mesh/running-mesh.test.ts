import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { aFolder } from '../../support/a-folder.ts';

const MODULE = JSON.stringify(join(import.meta.dirname, '../../../lib/assembly/mesh/running-mesh.ts'));

it('ignores the mesh of another user whose state file cannot be read', () => {
  const cwd = aFolder({ '.asya/m/mesh.json': JSON.stringify({ name: 'm', pid: process.pid }) });
  chmodSync(cwd, 0o755);
  chmodSync(join(cwd, '.asya'), 0);
  // Root can read every file, so the test changes its user.
  const code = `
    const { runningMeshes } = await import(${MODULE});
    if (process.getuid() === 0) process.seteuid(65534);
    console.log(JSON.stringify(runningMeshes('.')));`;
  const run = spawnSync(process.execPath, ['--input-type=module', '--eval', code], { cwd, encoding: 'utf8' });
  chmodSync(join(cwd, '.asya'), 0o700);
  expect([run.stderr, run.stdout]).toEqual(['', '[]\n']);
});
