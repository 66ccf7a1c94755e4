import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations, type Violation } from '../../tools/rooms.ts';

const PROJECT = join(import.meta.dirname, '../..');

/** Written into a copy of the project, so that the project itself stays clean. */
const PLANTED: readonly (readonly [string, string, string])[] = [
  [
    'core imports a port',
    'lib/core/text/planted.ts',
    "import type { X } from '../../ports/planted-port.ts';\nexport type Y = X;",
  ],
  [
    'core imports a package',
    'lib/core/text/planted.ts',
    "import fc from 'fast-check';\nexport const y = fc;",
  ],
  [
    'core imports Node',
    'lib/core/text/planted.ts',
    "import { join } from 'node:path';\nexport const y = join;",
  ],
  [
    'core imports Node without the node: prefix',
    'lib/core/text/planted.ts',
    "import { join } from 'path';\nexport const y = join;",
  ],
  [
    'core imports only a type',
    'lib/core/text/planted.ts',
    "import type { X } from '../../config/plan/planted-plan.ts';\nexport type Y = X;",
  ],
  [
    'core re-exports',
    'lib/core/text/planted.ts',
    "export { queueName } from '../../config/settings/queue-name.ts';",
  ],
  [
    'core imports dynamically',
    'lib/core/text/planted.ts',
    "export const y = () => import('../../config/settings/settings.ts');",
  ],
  [
    'a core layer imports the layer above it',
    'lib/core/envelope/planted.ts',
    "export { decide } from '../delivery/decide.ts';",
  ],
  [
    'the lowest core layer imports another one',
    'lib/core/text/planted.ts',
    "export { isActorName } from '../envelope/actor-name.ts';",
  ],
  [
    'ports import config',
    'lib/ports/planted.ts',
    "export { queueName } from '../config/settings/queue-name.ts';",
  ],
  [
    'config imports a use case',
    'lib/config/settings/planted.ts',
    "export * from '../../app/replay/planted-app.ts';",
  ],
  [
    'settings import the plan',
    'lib/config/settings/planted.ts',
    "export type { X } from '../plan/planted-plan.ts';",
  ],
  [
    'a use case imports an adapter',
    'lib/app/crew/planted.ts',
    "export * from '../../adapters/planted/thing.ts';",
  ],
  [
    'a use case imports another one that its row does not name',
    'lib/app/crew/planted.ts',
    "export * from '../replay/planted-app.ts';",
  ],
  [
    'the local mesh imports the CLI',
    'lib/local/mesh/planted.ts',
    "export * from '../../cli/planted-cli.ts';",
  ],
  ['an adapter imports another', 'lib/adapters/one/planted.ts', "export * from '../planted/thing.ts';"],
  ['a function imports another', 'functions/one/planted.ts', "export * from '../planted/thing.ts';"],
  [
    'a function imports the infrastructure',
    'functions/one/planted.ts',
    "export * from '../../infra/planted.ts';",
  ],
  [
    'the infrastructure imports a function',
    'infra/planted-app.ts',
    "export * from '../functions/planted/thing.ts';",
  ],
  ['lib imports a test', 'lib/app/crew/planted.ts', "export * from '../../../test/planted.ts';"],
  [
    'an example imports lib',
    'examples/one/planted.ts',
    "export { isActorName } from '../../lib/core/envelope/actor-name.ts';",
  ],
  [
    'a room inside another follows its own row',
    'examples/pipeline/planted.ts',
    "export { isActorName } from '../../lib/core/envelope/actor-name.ts';",
  ],
  [
    'a folder without a row',
    'lib/elsewhere/planted.ts',
    "export { isActorName } from '../core/envelope/actor-name.ts';",
  ],
  ['a file in core outside its layers', 'lib/core/planted.ts', 'export const x = 1;'],
  [
    'two files import each other',
    'lib/core/text/planted.ts',
    "import type { A } from './planted-too.ts';\nexport type B = A | 1;",
  ],
  ['a file that does not exist', 'lib/core/text/planted.ts', "export * from './nowhere.ts';"],
];

const IMPORTED_FILES: Readonly<Record<string, string>> = {
  'lib/ports/planted-port.ts': 'export type X = 1;',
  'lib/config/plan/planted-plan.ts': 'export type X = 1;',
  'lib/app/replay/planted-app.ts': 'export const x = 1;',
  'lib/cli/planted-cli.ts': 'export const x = 1;',
  'lib/adapters/planted/thing.ts': 'export const x = 1;',
  'functions/planted/thing.ts': 'export const x = 1;',
  'infra/planted.ts': 'export const x = 1;',
  'test/planted.ts': 'export const x = 1;',
  'lib/core/text/planted-too.ts': "import type { B } from './planted.ts';\nexport type A = B | 2;",
};

/** A separate file for each violation, so that one run finds them all. */
const placeOf = (index: number) => PLANTED[index]?.[1].replace('planted', `planted-${index}`) ?? '';
const CYCLE = PLANTED.findIndex(([what]) => what.includes('import each other'));

describe('rooms', () => {
  let copy = '';
  let before: readonly Violation[] = [];
  let found: readonly Violation[] = [];
  beforeAll(async () => {
    copy = mkdtempSync(join(tmpdir(), 'asya-rooms-'));
    for (const folder of ['lib/core', 'lib/config'])
      cpSync(join(PROJECT, folder), join(copy, folder), { recursive: true });
    symlinkSync(join(PROJECT, 'node_modules'), join(copy, 'node_modules'));
    before = (await findViolations(copy)).violations;
    for (const [place, text] of Object.entries(IMPORTED_FILES))
      plant(place, text.replace('planted.ts', basename(placeOf(CYCLE))));
    for (const [index, [, , text]] of PLANTED.entries()) plant(placeOf(index), text);
    found = (await findViolations(copy)).violations;
  });
  afterAll(() => rmSync(copy, { recursive: true }));

  function plant(path: string, text: string): void {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    writeFileSync(join(copy, path), text);
  }

  it('are respected by the project', async () => {
    const { violations, imports } = await findViolations(PROJECT);
    expect(violations).toEqual([]);
    expect(imports).toBeGreaterThan(100);
  });

  it('are respected by the copy before anything is planted', () => {
    expect(before).toEqual([]);
  });

  it.each(PLANTED.map(([what], index) => [what, placeOf(index)]))('reject: %s', (_what, place) => {
    expect(found.filter(({ from }) => from === place)).not.toEqual([]);
  });
});
