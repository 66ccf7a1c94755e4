import { mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { changeDetector, type FolderChanges } from '../../../lib/local/mesh/folder-changes.ts';
import { aFolder } from '../../support/a-folder.ts';
import { manifestIn } from '../a-mesh.ts';

/** Which changes restart which actors: real files on disk, checked by the test itself instead of a timer. */

const actor = (name: string, handler: string) =>
  `apiVersion: asya.sh/v1alpha1\nkind: AsyncActor\nmetadata: {name: ${name}}\nspec: {handler: ${handler}}\n`;

const NODE = {
  'm/a.yaml': actor('a', 'a.ts.f'),
  'm/b.yaml': actor('b', 'b.ts.f'),
  'm/a.ts': `import './prompts.ts';\nimport './shared.ts';\nexport const f = 1;`,
  'm/b.ts': `import './shared.ts';\nexport const f = 1;`,
  'm/prompts.ts': `export const prompt = 1;`,
  'm/shared.ts': `import '../outside/x.ts';`,
  'outside/x.ts': `export const x = 1;`,
};

async function aWatchedMesh(texts: Readonly<Record<string, string>>, since = Number.POSITIVE_INFINITY) {
  const folder = realpathSync(aFolder(texts));
  const root = join(folder, 'm');
  let manifest = manifestIn(root);
  const pythonFiles: string[] = [];
  const detector = changeDetector(root, { manifest: () => manifest, pythonFiles: () => pythonFiles, since });
  const first = await detector.check();
  return {
    root,
    first,
    pythonFiles,
    check: detector.check,
    path: (name: string) => join(root, name),
    write: (name: string, text: string) => writeFileSync(join(root, name), text),
    apply: () => (manifest = manifestIn(root)),
    /** The next report. It takes two checks that find the same. */
    report: async (): Promise<FolderChanges | undefined> => (await detector.check()) ?? detector.check(),
  };
}

const restarts = (changes: FolderChanges | undefined) => Object.fromEntries(changes?.handlers ?? []);

describe('a change of', () => {
  test.each([
    ['a handler', 'a.ts', { a: 'a.ts changed' }],
    ['what one handler imports', 'prompts.ts', { a: 'prompts.ts changed' }],
    ['what several handlers import', 'shared.ts', { a: 'shared.ts changed', b: 'shared.ts changed' }],
    [
      'a file outside of the folder',
      '../outside/x.ts',
      { a: '../outside/x.ts changed', b: '../outside/x.ts changed' },
    ],
  ])('%s restarts its actors only', async (_, file, expected) => {
    const mesh = await aWatchedMesh(NODE);
    mesh.write(file, '// changed\n');
    expect(restarts(await mesh.report())).toEqual(expected);
    expect(await mesh.report()).toBeUndefined();
  });

  test('a file that no handler imports is not reported, also not with the next change', async () => {
    const mesh = await aWatchedMesh(NODE);
    for (const name of ['.venv/lib', 'node_modules/x', '__pycache__', 'tests', 'data'])
      mkdirSync(mesh.path(name), { recursive: true });
    for (const name of ['.venv/lib/x.py', 'node_modules/x/index.js', '__pycache__/a.pyc', 'tests/t.ts'])
      mesh.write(name, '');
    for (const name of ['a.test.ts', 'package.json', 'data/notes.txt', 'README.md']) mesh.write(name, '{}');
    expect(await mesh.report()).toBeUndefined();
    mesh.write('b.ts', 'export const f = 2;');
    expect(await mesh.report()).toEqual({
      isManifest: false,
      isPython: false,
      isEnv: false,
      handlers: new Map([['b', 'b.ts changed']]),
    });
  });

  test('a file that a handler reads restarts nothing until the handler is touched', async () => {
    const mesh = await aWatchedMesh({
      ...NODE,
      'm/b.ts': `import { readFileSync } from 'node:fs';\nexport const f = readFileSync('words.txt');`,
      'm/words.txt': 'one',
    });
    mesh.write('words.txt', 'two');
    expect(await mesh.report()).toBeUndefined();
    const later = new Date(Date.now() + 1_000);
    utimesSync(mesh.path('b.ts'), later, later);
    expect(restarts(await mesh.report())).toEqual({ b: 'b.ts changed' });
  });

  test('a document is a change of the manifest', async () => {
    const mesh = await aWatchedMesh(NODE);
    expect(mesh.first).toMatchObject({ isManifest: true, handlers: new Map() });
    mesh.write('flows.yaml', 'flows: []\n');
    expect(await mesh.report()).toMatchObject({ isManifest: true, handlers: new Map() });
    rmSync(mesh.path('flows.yaml'));
    expect(await mesh.report()).toMatchObject({ isManifest: true, handlers: new Map() });
    mkdirSync(mesh.path('deeper'));
    mesh.write('deeper/c.yaml', actor('c', 'c.ts.f'));
    mesh.write('deeper/c.ts', 'export const f = 1;');
    expect(await mesh.report()).toMatchObject({ isManifest: true });
  });

  test('an interpreter is a change of Python', async () => {
    const mesh = await aWatchedMesh(NODE);
    mesh.pythonFiles.push(mesh.path('.venv/bin/python'));
    await mesh.check();
    mkdirSync(mesh.path('.venv/bin'), { recursive: true });
    // A link to nothing is not an interpreter yet.
    symlinkSync('python3', mesh.path('.venv/bin/python'));
    expect(await mesh.report()).toBeUndefined();
    mesh.write('.venv/bin/python3', '');
    expect(await mesh.report()).toEqual({
      isManifest: false,
      isPython: true,
      isEnv: false,
      handlers: new Map(),
    });
  });

  test('a document that is created while another change is applied is a change of the manifest', async () => {
    const mesh = await aWatchedMesh(NODE);
    mesh.write('a.yaml', `${actor('a', 'a.ts.f')}# changed\n`);
    expect((await mesh.report())?.isManifest).toBe(true);
    mesh.apply();
    mesh.write('c.yaml', actor('c', 'b.ts.f'));
    expect((await mesh.report())?.isManifest).toBe(true);
  });

  test('.env is a change of the secrets, also when it is created, replaced and deleted', async () => {
    const mesh = await aWatchedMesh(NODE);
    const change = { isManifest: false, isPython: false, isEnv: true, handlers: new Map() };
    mesh.write('.env', 'KEY=1\n');
    expect(await mesh.report()).toEqual(change);
    mesh.write('.env.new', 'KEY=2\n');
    renameSync(mesh.path('.env.new'), mesh.path('.env'));
    expect(await mesh.report()).toEqual(change);
    rmSync(mesh.path('.env'));
    expect(await mesh.report()).toEqual(change);
    expect(await mesh.report()).toBeUndefined();
  });
});

describe('imports', () => {
  test('a new import is followed from then on, and a removed one is not', async () => {
    const mesh = await aWatchedMesh(NODE);
    mesh.write('new.ts', '');
    expect(await mesh.report()).toBeUndefined();
    mesh.write('b.ts', `import './new.ts';\nexport const f = 1;`);
    expect(restarts(await mesh.report())).toEqual({ b: 'b.ts changed' });
    mesh.write('new.ts', '// changed\n');
    expect(restarts(await mesh.report())).toEqual({ b: 'new.ts changed' });
    mesh.write('shared.ts', '// changed\n');
    expect(restarts(await mesh.report())).toEqual({ a: 'shared.ts changed' });
  });

  test('fixing a syntax error restarts the actor, and its imports still belong to it', async () => {
    const mesh = await aWatchedMesh(NODE);
    mesh.write('a.ts', `import './prompts.ts';\nexport const f = {`);
    expect(restarts(await mesh.report())).toEqual({ a: 'a.ts changed' });
    mesh.write('prompts.ts', '// changed\n');
    expect(restarts(await mesh.report())).toEqual({ a: 'prompts.ts changed' });
    mesh.write('a.ts', `import './prompts.ts';\nexport const f = 2;`);
    expect(restarts(await mesh.report())).toEqual({ a: 'a.ts changed' });
  });

  test('creating a missing file restarts the actor', async () => {
    const mesh = await aWatchedMesh({ ...NODE, 'm/b.ts': `import './later.ts';\nexport const f = 1;` });
    mesh.write('later.ts', '');
    expect(await mesh.report()).toMatchObject({
      isManifest: true,
      handlers: new Map([['b', 'later.ts changed']]),
    });
  });

  test('the handlers of a new manifest are followed', async () => {
    const mesh = await aWatchedMesh(NODE);
    mesh.write('c.ts', 'export const f = 1;');
    mesh.write('c.yaml', actor('c', 'c.ts.f'));
    rmSync(mesh.path('b.yaml'));
    expect(restarts(await mesh.report())).toEqual({});
    mesh.apply();
    expect(await mesh.report()).toBeUndefined();
    mesh.write('b.ts', '// changed\n');
    mesh.write('c.ts', '// changed\n');
    expect(await mesh.report()).toMatchObject({
      isManifest: false,
      handlers: new Map([['c', 'c.ts changed']]),
    });
  });
});

describe('one report for a burst', () => {
  test('while files are being written, nothing is reported', async () => {
    const mesh = await aWatchedMesh(NODE);
    mesh.write('a.ts', '// 1\n');
    expect(await mesh.check()).toBeUndefined();
    mesh.write('a.ts', '// 1\n// 2\n');
    expect(await mesh.check()).toBeUndefined();
    mesh.write('prompts.ts', '// 3\n');
    expect(await mesh.check()).toBeUndefined();
    expect(restarts(await mesh.check())).toEqual({ a: 'a.ts, prompts.ts changed' });
    expect(await mesh.report()).toBeUndefined();
  });

  test('many files, in one line', async () => {
    const names = ['one', 'two', 'three', 'four'];
    const mesh = await aWatchedMesh({
      ...NODE,
      'm/a.ts': names.map((name) => `import './${name}.ts';`).join('\n'),
      ...Object.fromEntries(names.map((name) => [`m/${name}.ts`, ''])),
    });
    for (const name of names) mesh.write(`${name}.ts`, '// changed\n');
    expect(restarts(await mesh.report())).toEqual({ a: 'one.ts, two.ts and 2 more files changed' });
    for (const name of names.slice(0, 3)) mesh.write(`${name}.ts`, '// again changed\n');
    expect(restarts(await mesh.report())).toEqual({ a: 'one.ts, two.ts, three.ts changed' });
  });

  test('an editor that replaces the file, with the same size and time', async () => {
    const mesh = await aWatchedMesh(NODE);
    const time = new Date(1_600_000_000_000);
    utimesSync(mesh.path('prompts.ts'), time, time);
    await mesh.report();
    mesh.write('.prompts.ts.swp', `export const prompt = 2;`);
    utimesSync(mesh.path('.prompts.ts.swp'), time, time);
    renameSync(mesh.path('prompts.ts'), mesh.path('prompts.ts~'));
    renameSync(mesh.path('.prompts.ts.swp'), mesh.path('prompts.ts'));
    expect(restarts(await mesh.report())).toEqual({ a: 'prompts.ts changed' });
    expect(await mesh.report()).toBeUndefined();
  });

  test('deleting a handler, and creating it again', async () => {
    const mesh = await aWatchedMesh(NODE);
    renameSync(mesh.path('a.ts'), mesh.path('renamed.ts'));
    expect(await mesh.report()).toMatchObject({
      isManifest: true,
      handlers: new Map([['a', 'a.ts was deleted']]),
    });
    expect(await mesh.report()).toBeUndefined();
    renameSync(mesh.path('renamed.ts'), mesh.path('a.ts'));
    expect(await mesh.report()).toMatchObject({
      isManifest: true,
      handlers: new Map([['a', 'a.ts changed']]),
    });
    mesh.write('prompts.ts', '// changed\n');
    expect(restarts(await mesh.report())).toEqual({ a: 'prompts.ts changed' });
  });
});

test('a file that changed while the mesh started is reported first', async () => {
  const mesh = await aWatchedMesh(NODE, Date.now() - 3_600_000);
  expect(restarts(mesh.first)).toEqual({
    a: expect.stringMatching(/changed$/),
    b: expect.stringMatching(/changed$/),
  });
});

test('Python: the same for modules and packages', async () => {
  const mesh = await aWatchedMesh({
    'm/a.yaml': actor('a', 'a.f'),
    'm/b.yaml': actor('b', 'pkg.b.f'),
    'm/a.py': 'import util\n',
    'm/pkg/__init__.py': '',
    'm/pkg/b.py': 'from . import part\n',
    'm/pkg/part.py': '',
    'm/util.py': '',
    'm/test_a.py': 'import a\n',
  });
  mesh.write('test_a.py', 'import a, b\n');
  expect(await mesh.report()).toBeUndefined();
  mesh.write('util.py', 'x = 1\n');
  expect(restarts(await mesh.report())).toEqual({ a: 'util.py changed' });
  mesh.write('pkg/part.py', 'x = 1\n');
  expect(restarts(await mesh.report())).toEqual({ b: 'pkg/part.py changed' });
  mesh.write('json.py', '');
  expect(await mesh.report()).toBeUndefined();
  mesh.write('a.py', 'import util\nimport json\n');
  expect(restarts(await mesh.report())).toEqual({ a: 'a.py changed' });
  rmSync(mesh.path('json.py'));
  expect(restarts(await mesh.report())).toEqual({ a: 'json.py was deleted' });
});
