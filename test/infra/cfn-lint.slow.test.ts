import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { anApp, DEV_WITH_GATEWAY, LETTERS, manifestIn, templateOf } from './a-mesh-stack.ts';

const { status } = spawnSync('cfn-lint', ['--version']);
if (status !== 0) console.log('skipped: cfn-lint is not installed; install it with: pip install cfn-lint');

test.skipIf(status !== 0)('cfn-lint finds no error', { timeout: 240_000 }, async () => {
  const { outdir } = await anApp();
  const file = join(outdir, 'template.json');
  writeFileSync(file, JSON.stringify(templateOf(manifestIn(LETTERS), { environment: DEV_WITH_GATEWAY })));
  const { stdout, stderr, status } = spawnSync(
    'cfn-lint',
    ['--non-zero-exit-code', 'error', '--format', 'parseable', file],
    {
      encoding: 'utf8',
    },
  );
  const errors = stdout.split('\n').filter((line) => /:E\d{4}:/.test(line));
  expect(errors).toEqual([]);
  expect(status, stderr).toBe(0);
});
