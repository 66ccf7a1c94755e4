import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';

test('temporary files of a run are in a folder that is deleted after the run', () => {
  expect(process.env['TMPDIR']).toBe(tmpdir());
  expect(tmpdir().slice(dirname(tmpdir()).length + 1)).toMatch(/^asya-run-/);
});
