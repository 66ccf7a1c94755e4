import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { handlerFiles } from '../../../lib/local/imports/handler-files.ts';
import { aFolder } from '../../support/a-folder.ts';
import { manifestIn } from '../a-mesh.ts';

/** Which files belong to a handler: real files on disk, read as Node and Python would load them. */

function actor(name: string, handler: string, more = ''): string {
  return `apiVersion: asya.sh/v1alpha1\nkind: AsyncActor\nmetadata: {name: ${name}}\nspec: {handler: ${handler}${more}}\n`;
}

/** Lists the existing files of each actor, relative to the mesh. */
function aMesh(texts: Readonly<Record<string, string>>) {
  const folder = realpathSync(aFolder(texts));
  const mesh = join(folder, 'mesh');
  const files = handlerFiles(mesh);
  return {
    folder,
    mesh,
    write: (path: string, text: string) => writeFileSync(join(mesh, path), text),
    update: () => files.update(manifestIn(mesh).actors),
    of: (name: string) => [...files.of(name)].map((path) => relative(mesh, path)).sort(),
  };
}

describe('Node', () => {
  test('a handler has what it imports, directly or through other files, and nothing else', async () => {
    const mesh = aMesh({
      'mesh/a.yaml': actor('a', 'a.ts.f'),
      'mesh/b.yaml': actor('b', 'b.mjs.f'),
      'mesh/a.ts': `
        import type { T } from './types.ts';
        import { type U } from './kept.ts';
        import data from './data.json' with { type: 'json' };
        import fs from 'node:fs';
        import esbuild from 'esbuild';
        export { one } from './lib/one.ts';
        export const f = async () => (await import('./lazy.ts')).default;`,
      'mesh/b.mjs': `import './shared.ts';\nexport const f = () => {};`,
      'mesh/data.json': '{"n": 1',
      'mesh/lib/one.ts': `import '../../outside/x.ts';\nexport const one = require('./two.cjs');`,
      'mesh/lib/two.cjs': `require('./three');`,
      'mesh/lib/three.js': `module.exports = 3;`,
      'mesh/lazy.ts': `import './shared.ts';\nexport default 1;`,
      'mesh/shared.ts': `export const s: number = 1;`,
      'mesh/types.ts': `export type T = 1;`,
      'mesh/kept.ts': `export type U = 1;`,
      'mesh/a.test.ts': `import './a.ts';`,
      'outside/x.ts': `export const x = 1;`,
    });
    await mesh.update();
    expect(mesh.of('a')).toEqual(
      ['../outside/x.ts', 'a.ts', 'data.json', 'kept.ts', 'lazy.ts', 'shared.ts']
        .concat(['lib/one.ts', 'lib/three', 'lib/three.js', 'lib/two.cjs'])
        .sort(),
    );
    expect(mesh.of('b')).toEqual(['b.mjs', 'shared.ts']);
  });

  test('a new import is followed, and a removed one is not any more', async () => {
    const mesh = aMesh({
      'mesh/a.yaml': actor('a', 'a.ts.f'),
      'mesh/a.ts': `import './one.ts';\nexport const f = 1;`,
      'mesh/one.ts': '',
      'mesh/two.ts': '',
    });
    await mesh.update();
    expect(mesh.of('a')).toEqual(['a.ts', 'one.ts']);
    mesh.write('a.ts', `import './two.ts';\nexport const f = 1;`);
    await mesh.update();
    expect(mesh.of('a')).toEqual(['a.ts', 'two.ts']);
  });

  test('a file with a syntax error keeps its imports, and so does the rest of the mesh', async () => {
    const mesh = aMesh({
      'mesh/a.yaml': actor('a', 'a.ts.f'),
      'mesh/b.yaml': actor('b', 'b.ts.f'),
      'mesh/a.ts': `import './one.ts';\nexport const f = 1;`,
      'mesh/one.ts': `import './two.ts';`,
      'mesh/two.ts': '',
      'mesh/b.ts': 'export const f = 1;',
    });
    await mesh.update();
    mesh.write('one.ts', `import './two.ts';\nexport const = ;`);
    mesh.write('a.ts', `import './one.ts';\nexport const f = {`);
    await mesh.update();
    await mesh.update();
    expect(mesh.of('a')).toEqual(['a.ts', 'one.ts', 'two.ts']);
    expect(mesh.of('b')).toEqual(['b.ts']);
  });

  test('a handler with a syntax error at the start belongs to its actor, and so does a file that is missing', async () => {
    const mesh = aMesh({
      'mesh/a.yaml': actor('a', 'a.ts.f'),
      'mesh/b.yaml': actor('b', 'b.ts.f'),
      'mesh/a.ts': 'export const f = {',
      'mesh/b.ts': `import './later.ts';\nexport const f = 1;`,
    });
    await mesh.update();
    expect(mesh.of('a')).toEqual(['a.ts']);
    expect(mesh.of('b')).toEqual(['b.ts', 'later.ts']);
  });

  test('packages are not followed, except those of the workspace', async () => {
    const mesh = aMesh({
      'mesh/a.yaml': actor('a', 'a.ts.f'),
      'mesh/a.ts': `import 'installed';\nimport 'linked';\nexport const f = 1;`,
      'mesh/node_modules/installed/package.json': '{"name":"installed","main":"index.js"}',
      'mesh/node_modules/installed/index.js': '',
      'packages/linked/package.json': '{"name":"linked","exports":"./main.ts","type":"module"}',
      'packages/linked/main.ts': `import './part.ts';`,
      'packages/linked/part.ts': '',
    });
    symlinkSync(join(mesh.folder, 'packages/linked'), join(mesh.mesh, 'node_modules/linked'));
    await mesh.update();
    expect(mesh.of('a')).toEqual(['../packages/linked/main.ts', '../packages/linked/part.ts', 'a.ts']);
  });

  test('links: the link and its file belong to the handler, and a loop of folders does not matter', async () => {
    const mesh = aMesh({
      'mesh/a.yaml': actor('a', 'a.ts.f'),
      'real/a.ts': `import './one.ts';\nexport const f = 1;`,
      'real/one.ts': '',
    });
    symlinkSync('../real/a.ts', join(mesh.mesh, 'a.ts'));
    mkdirSync(join(mesh.mesh, 'lib'));
    symlinkSync('..', join(mesh.mesh, 'lib/loop'));
    await mesh.update();
    expect(mesh.of('a')).toEqual(['../real/a.ts', '../real/one.ts', 'a.ts']);
  });
});

describe('Python', () => {
  test('a handler has its modules and packages, and nothing that only others import', async () => {
    const mesh = aMesh({
      'mesh/a.yaml': actor('a', 'pkg.score.f'),
      'mesh/b.yaml': actor('b', 'other.Scorer.f'),
      'mesh/pkg/__init__.py': 'from . import eager\n',
      'mesh/pkg/eager.py': '',
      'mesh/pkg/score.py':
        'import json\nimport util\nfrom .deep.inner import thing\nfrom . import side as s\n\ndef f(payload):\n    import late\n    return importlib.import_module("named.one")\n',
      'mesh/pkg/deep/inner.py': 'from ..up import x\n',
      'mesh/pkg/up.py': '',
      'mesh/pkg/side/__init__.py': '',
      'mesh/pkg/unused.py': '',
      'mesh/util.py': 'import circular\n',
      'mesh/circular.py': 'import util\n',
      'mesh/late.py': '',
      'mesh/named/one.py': '',
      'mesh/other.py': 'from util import *\n',
      'mesh/test_score.py': 'import pkg.score\n',
    });
    await mesh.update();
    const existing = (name: string) => mesh.of(name).filter((path) => EXISTING.has(path));
    const EXISTING = new Set(
      ['pkg/__init__.py', 'pkg/eager.py', 'pkg/score.py', 'pkg/deep/inner.py', 'pkg/up.py', 'pkg/unused.py']
        .concat(['pkg/side/__init__.py', 'util.py', 'circular.py', 'late.py', 'named/one.py'])
        .concat(['other.py', 'test_score.py']),
    );
    expect(existing('a')).toEqual(
      ['circular.py', 'late.py', 'named/one.py', 'pkg/__init__.py', 'pkg/deep/inner.py', 'pkg/eager.py']
        .concat(['pkg/score.py', 'pkg/side/__init__.py', 'pkg/up.py', 'util.py'])
        .sort(),
    );
    expect(existing('b')).toEqual(['circular.py', 'other.py', 'util.py']);
  });

  test('a module that does not exist yet belongs to the handler, and a package that would hide one', async () => {
    const mesh = aMesh({
      'mesh/a.yaml': actor('a', 'a.f'),
      'mesh/a.py': 'import later\nimport util\n',
      'mesh/util.py': '',
    });
    await mesh.update();
    expect(mesh.of('a')).toEqual(
      ['a.py', 'a/__init__.py', 'later.py', 'later/__init__.py', 'util.py', 'util/__init__.py'].sort(),
    );
  });

  test('PYTHONPATH of the actor is searched, and a text that does not end keeps the imports', async () => {
    const mesh = aMesh({
      'mesh/a.yaml': actor('a', 'a.f', ', environment: {PYTHONPATH: ../shared}'),
      'mesh/a.py': 'import common\nimport own\n',
      'mesh/own.py': '',
      'shared/common.py': '',
    });
    await mesh.update();
    expect(mesh.of('a')).toEqual(expect.arrayContaining(['../shared/common.py', 'a.py', 'own.py']));
    mesh.write('a.py', '"""open\nimport common\nimport own\n');
    await mesh.update();
    expect(mesh.of('a')).toEqual(expect.arrayContaining(['../shared/common.py', 'a.py', 'own.py']));
    mesh.write('a.py', 'import own\n');
    await mesh.update();
    expect(mesh.of('a')).not.toContain('../shared/common.py');
  });
});

test('an actor without code in the folder has no files', async () => {
  const mesh = aMesh({
    'mesh/a.yaml': actor('a', 'a.ts.f'),
    'mesh/a.ts': 'export const f = 1;',
    'mesh/u.yaml':
      'apiVersion: asya.sh/v1alpha1\nkind: AsyncActor\nmetadata: {name: u}\nspec: {url: "http://127.0.0.1:1/"}\n',
  });
  mkdirSync(join(mesh.mesh, 'empty'));
  await mesh.update();
  expect(mesh.of('u')).toEqual([]);
  expect(mesh.of('unknown')).toEqual([]);
});
