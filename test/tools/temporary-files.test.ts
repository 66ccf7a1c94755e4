import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';

test('temporary files of a run lie in a folder that goes with it', () => {
  expect(process.env['TMPDIR']).toBe(tmpdir());
  expect(tmpdir().slice(dirname(tmpdir()).length + 1)).toMatch(/^asya-run-/);
});
