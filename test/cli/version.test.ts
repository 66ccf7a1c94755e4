import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { asya } from './run-asya.ts';

const PACKAGE = join(import.meta.dirname, '../../package.json');

it.each(['--version', '-V'])('prints the version of the package for %s', async (option) => {
  const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8'));
  expect(await asya([option])).toMatchObject({ status: 0, out: version, err: '' });
});
