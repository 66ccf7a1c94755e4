import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../sidecar/sidecar-process.ts';
import { asya } from './run-asya.ts';

const COMMANDS = join(ROOT, 'lib/cli/commands');
const DECLARATIONS = globSync('*.ts', { cwd: COMMANDS }).map((file) => basename(file, '.ts'));

/** `asya --help` loads every declaration, so declarations import only these modules. */
const LIGHT = ['../define-command.ts', '../options/filter-options.ts', '../usage-error.ts'];

describe.each(DECLARATIONS)('the command %s', (name) => {
  it('is declared apart from its implementation', () => {
    const text = readFileSync(join(COMMANDS, `${name}.ts`), 'utf8');
    const imports = [...text.matchAll(/^import (?!type ).* from '(.*)';/gm)].map(([, path]) => path);
    expect(imports.filter((path) => !LIGHT.includes(path ?? ''))).toEqual([]);
    expect(existsSync(join(COMMANDS, name, `run-${name}.ts`))).toBe(true);
  });

  it('has help with an example and the exit statuses', async () => {
    const { status, out } = await asya([name, '--help']);
    expect(status).toBe(0);
    expect(out).toMatch(/^Examples?:$/m);
    expect(out).toMatch(/^Exit status: 0 /m);
  });
});

it('asya --help lists every command', async () => {
  const { out } = await asya(['--help']);
  const listed = [...out.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name);
  expect(listed.filter((name) => name !== 'help').toSorted()).toEqual(DECLARATIONS.toSorted());
});
