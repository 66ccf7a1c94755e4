import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aFolder } from '../support/a-folder.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Output of an installation whose package requires a newer Node than any that exists. */
function installOnOldNode(files: Readonly<Record<string, string>>): string {
  const cwd = aFolder({
    'package.json': JSON.stringify({ name: 'x', version: '1.0.0', engines: { node: '>=999' } }),
    ...files,
  });
  // The settings of the npm that runs this test would take precedence over the file.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_config_/i.test(name)));
  const { stdout, stderr, status } = spawnSync('npm', ['install', '--dry-run', '--offline'], {
    cwd,
    env,
    encoding: 'utf8',
  });
  expect(status).toBe(0);
  return stdout + stderr;
}

describe('.npmrc', () => {
  it('silences warnings about the Node version of the machine', () => {
    const npmrc = readFileSync(join(ROOT, '.npmrc'), 'utf8');
    expect(installOnOldNode({ '.npmrc': npmrc })).not.toContain('EBADENGINE');
    expect(installOnOldNode({})).toContain('EBADENGINE');
  });
});
