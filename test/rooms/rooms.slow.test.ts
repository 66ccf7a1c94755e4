import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations, type Violation } from '../../tools/rooms.ts';

const PROJECT = join(import.meta.dirname, '../..');

/** Planted in a copy of the project, so that nobody trips over it here. */
const PLANTED: readonly (readonly [string, string, string])[] = [
  [
    'core imports a port',
    'lib/core/planted.ts',
    "import type { X } from '../ports/planted-port.ts';\nexport type Y = X;",
  ],
  ['core imports a package', 'lib/core/planted.ts', "import fc from 'fast-check';\nexport const y = fc;"],
  ['core imports Node', 'lib/core/planted.ts', "import { join } from 'node:path';\nexport const y = join;"],
  [
    'core imports Node, the old way',
    'lib/core/planted.ts',
    "import { join } from 'path';\nexport const y = join;",
  ],
  [
    'core imports a type alone',
    'lib/core/planted.ts',
    "import type { SidecarConfig } from '../config/sidecar-config.ts';\nexport type Y = SidecarConfig;",
  ],
  ['core re-exports', 'lib/core/planted.ts', "export { queueName } from '../config/queue-name.ts';"],
  [
    'core imports when it runs',
    'lib/core/planted.ts',
    "export const y = () => import('../config/settings.ts');",
  ],
  ['ports import config', 'lib/ports/planted.ts', "export { queueName } from '../config/queue-name.ts';"],
  ['app imports an adapter', 'lib/app/planted.ts', "export * from '../adapters/planted/thing.ts';"],
  ['config imports the app', 'lib/config/planted.ts', "export * from '../app/planted-app.ts';"],
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
  ['lib imports a test', 'lib/app/planted.ts', "export * from '../../test/planted.ts';"],
  [
    'an example leans on ours',
    'examples/one/planted.ts',
    "export { isActorName } from '../../lib/core/actor-name.ts';",
  ],
  [
    'a room in another keeps to its own row',
    'examples/pipeline/planted.ts',
    "export { isActorName } from '../../lib/core/actor-name.ts';",
  ],
  [
    'a folder that is no room',
    'lib/elsewhere/planted.ts',
    "export { isActorName } from '../core/actor-name.ts';",
  ],
  [
    'two files in a circle',
    'lib/core/planted.ts',
    "import type { A } from './planted-too.ts';\nexport type B = A | 1;",
  ],
  ['what is not there', 'lib/core/planted.ts', "export * from './nowhere.ts';"],
];

const SCENERY: Readonly<Record<string, string>> = {
  'lib/ports/planted-port.ts': 'export type X = 1;',
  'lib/app/planted-app.ts': 'export const x = 1;',
  'lib/adapters/planted/thing.ts': 'export const x = 1;',
  'functions/planted/thing.ts': 'export const x = 1;',
  'infra/planted.ts': 'export const x = 1;',
  'test/planted.ts': 'export const x = 1;',
  'lib/core/planted-too.ts': "import type { B } from './planted.ts';\nexport type A = B | 2;",
};

/** Each in a file of its own, so that one look finds them all: a look for each took half a minute. */
const placeOf = (index: number) => PLANTED[index]?.[1].replace('planted', `planted-${index}`) ?? '';
const CIRCLE = PLANTED.findIndex(([what]) => what.includes('circle'));

describe('the rooms', () => {
  let copy = '';
  let before: readonly Violation[] = [];
  let found: readonly Violation[] = [];
  beforeAll(async () => {
    copy = mkdtempSync(join(tmpdir(), 'asya-rooms-'));
    for (const folder of ['lib/core', 'lib/config'])
      cpSync(join(PROJECT, folder), join(copy, folder), { recursive: true });
    symlinkSync(join(PROJECT, 'node_modules'), join(copy, 'node_modules'));
    before = (await findViolations(copy)).violations;
    for (const [place, text] of Object.entries(SCENERY))
      plant(place, text.replace('planted.ts', basename(placeOf(CIRCLE))));
    for (const [index, [, , text]] of PLANTED.entries()) plant(placeOf(index), text);
    found = (await findViolations(copy)).violations;
  });
  afterAll(() => rmSync(copy, { recursive: true }));

  function plant(path: string, text: string): void {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    writeFileSync(join(copy, path), text);
  }

  it('are kept by the project as it stands', async () => {
    const { violations, imports } = await findViolations(PROJECT);
    expect(violations).toEqual([]);
    expect(imports).toBeGreaterThan(100);
  });

  it('are kept by the copy before anything is planted', () => {
    expect(before).toEqual([]);
  });

  it.each(PLANTED.map(([what], index) => [what, placeOf(index)]))('refuse: %s', (_what, place) => {
    expect(found.filter(({ from }) => from === place)).not.toEqual([]);
  });
});
