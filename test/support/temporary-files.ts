import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * One folder for all temporary files of a test run, removed at its end. It also collects the files that killed processes
 * and libraries leave behind. Workers inherit it.
 */
const original = process.env['TMPDIR'];
let folder: string | undefined;

export function setup(): void {
  folder = mkdtempSync(join(tmpdir(), 'asya-run-'));
  process.env['TMPDIR'] = folder;
}

export function teardown(): void {
  if (folder === undefined) return;
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  if (original === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = original;
}
