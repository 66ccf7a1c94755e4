import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A folder for every temporary file of a run, gone with it: what a killed process, or a library that never tidies up,
 * leaves behind is in it too. Workers inherit it.
 */
const given = process.env['TMPDIR'];
let folder: string | undefined;

export function setup(): void {
  folder = mkdtempSync(join(tmpdir(), 'asya-run-'));
  process.env['TMPDIR'] = folder;
}

export function teardown(): void {
  if (folder === undefined) return;
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  if (given === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = given;
}
