import { spawn } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { bundleHandler } from '../../../infra/code/bundle.ts';
import { runtimeCommand } from '../../../lib/local/mesh/runtime-command.ts';
import { aFolder } from '../../support/a-folder.ts';

/** A mesh that depends on this checkout by its path, as `asya init` creates it here. */
function aLinkedMesh(): string {
  const folder = aFolder({
    'busy.ts': `import { RetryAfter } from 'asya-serverless/handler';
export function busy() { throw new RetryAfter(30, 'busy'); }
`,
  });
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(resolve(import.meta.dirname, '../../..'), join(folder, 'node_modules/asya-serverless'));
  return folder;
}

it('a handler that imports from asya-serverless/handler starts in a mesh that is linked to a checkout', async () => {
  const folder = aLinkedMesh();
  const how = runtimeCommand({ kind: 'node', handler: 'busy.ts.busy' }, undefined);
  const command = 'command' in how ? (how.command ?? '') : '';
  const child = spawn('sh', ['-c', command], {
    cwd: folder,
    env: { ...process.env, ASYA_RUNTIME_URL: `asya:${folder}/app.sock` },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = new Promise((ended) => child.once('exit', ended));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  let log = '';
  for await (const chunk of child.stderr) {
    log += String(chunk);
    if (log.includes('is ready at') || log.includes('cannot host')) break;
  }
  expect(log).toContain('is ready at');
});

it('its bundle contains the class', () => {
  expect(bundleHandler('busy.ts', aLinkedMesh()).text).toContain('asya.RetryAfter');
});
