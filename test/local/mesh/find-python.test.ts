import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findPython } from '../../../lib/local/mesh/find-python.ts';
import { meshPythons } from '../../../lib/local/mesh/mesh-pythons.ts';
import { aFolder } from '../../support/a-folder.ts';
import { manifestIn } from '../a-mesh.ts';

/** Virtual environments that are really made by Python, and programs that pretend to be another version. */

const shell = process.env;
const hasPython =
  spawnSync('python3', ['-c', 'import venv, sys; assert sys.version_info >= (3, 9)']).status === 0;
if (!hasPython)
  console.log('virtual environments: skipped, because Python 3.9 or later with venv is not installed');

function makeEnvironment(folder: string): string {
  const { status, stderr } = spawnSync('python3', ['-m', 'venv', '--without-pip', '--clear', folder], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return join(folder, 'bin/python');
}

/** A program that answers like an interpreter of this version. */
function pretendPython(path: string, version: string): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, `#!/bin/sh\nprintf '%s\\n%s\\n' "$0" ${version}\n`);
  chmodSync(path, 0o755);
}

const ACTOR =
  'apiVersion: asya.sh/v1alpha1\nkind: AsyncActor\nmetadata: {name: NAME}\nspec: {handler: a.f}\n';

describe.skipIf(!hasPython)('a virtual environment', () => {
  test('of the nearest folder is used, then the activated one, then the PATH', () => {
    const folder = realpathSync(aFolder({ 'actor/.keep': '', 'mesh/.keep': '', 'start/.keep': '' }));
    const folders = ['actor', 'mesh', 'start'].map((name) => join(folder, name));
    const activated = makeEnvironment(join(folder, 'activated'));
    const VIRTUAL_ENV = join(folder, 'activated');
    expect(findPython(folders, shell)).toEqual({
      python: expect.stringContaining('python'),
      version: expect.stringMatching(/^3\.\d+\.\d+$/),
    });
    expect(findPython(folders, { ...shell, VIRTUAL_ENV })).toMatchObject({ python: activated });
    for (const name of ['start/venv', 'start/.venv', 'mesh/venv', 'actor/.venv']) {
      const python = makeEnvironment(join(folder, name));
      expect(findPython(folders, { ...shell, VIRTUAL_ENV })).toMatchObject({
        python,
        environment: join(folder, name),
      });
    }
  });

  test('is not a folder that only has the same name, nor an activated one that was deleted', () => {
    const folder = aFolder({ 'venv/__init__.py': '', '.venv/notes.txt': '' });
    const found = findPython([folder], { ...shell, VIRTUAL_ENV: join(folder, 'deleted') });
    expect(found).toEqual({ python: expect.any(String), version: expect.any(String) });
  });

  test('that is broken or too old is reported with its path and what to do', () => {
    const folder = realpathSync(aFolder({ 'real/.keep': '' }));
    const environment = join(folder, '.venv');
    const python = makeEnvironment(environment);
    const fix = `recreate it with "python3 -m venv --clear ${environment}" and install its packages, or delete ${environment}`;
    rmSync(python);
    expect(findPython([folder], shell)).toEqual({
      problem: `its Python ${JSON.stringify(python)} does not exist; ${fix}`,
    });
    symlinkSync('python3', python);
    rmSync(join(environment, 'bin/python3'));
    symlinkSync(join(folder, 'gone/python3.8'), join(environment, 'bin/python3'));
    expect(findPython([folder], shell)).toEqual({
      problem: `its Python ${JSON.stringify(python)} is a link to ${JSON.stringify(join(folder, 'gone/python3.8'))}, which does not exist; ${fix}`,
    });
    pretendPython(join(folder, 'gone/python3.8'), '3.8.20');
    expect(findPython([folder], shell)).toEqual({
      problem: `its Python ${JSON.stringify(python)} is Python 3.8.20, and handlers need Python 3.9 or later; ${fix}`,
    });
    writeFileSync(join(folder, 'gone/python3.8'), '#!/bin/sh\nexit 3\n');
    expect(findPython([folder], shell)).toEqual({
      problem: `its Python ${JSON.stringify(python)} cannot be started; ${fix}`,
    });
    makeEnvironment(environment);
    expect(findPython([folder], shell)).toMatchObject({ python });
  });

  test('that appears, is recreated or deleted changes the Python of its actors', () => {
    const folder = realpathSync(
      aFolder({
        'm/a.yaml': ACTOR.replace('NAME', 'a'),
        'm/deeper/b.yaml': ACTOR.replace('NAME', 'b'),
        'm/a.py': 'def f(payload): pass\n',
        'm/deeper/a.py': 'def f(payload): pass\n',
        'm/n.yaml': ACTOR.replace('NAME', 'n').replace('a.f', 'n.ts.f'),
        'm/n.ts': 'export const f = 1;',
      }),
    );
    const root = join(folder, 'm');
    const { actors } = manifestIn(root);
    const pythons = meshPythons(root, folder, shell);
    const changes = () => {
      const names = pythons.changes(actors).map(({ name }) => name);
      for (const actor of actors) pythons.of(actor);
      return names;
    };
    for (const actor of actors) pythons.of(actor);
    expect(changes()).toEqual([]);
    expect(pythons.files(actors)).toContain(join(root, 'deeper/.venv/bin/python'));
    makeEnvironment(join(root, 'deeper/.venv'));
    expect(changes()).toEqual(['b']);
    expect(pythons.texts(actors)).toEqual([
      expect.stringMatching(/^Python \S+ \(\/.*\) for a$/),
      expect.stringMatching(/^Python \S+ \(deeper\/\.venv\/bin\/python\) for b$/),
    ]);
    makeEnvironment(join(root, '.venv'));
    expect(changes()).toEqual(['a']);
    makeEnvironment(join(root, '.venv'));
    expect(changes()).toEqual(['a']);
    renameSync(join(root, 'deeper/.venv'), join(root, 'deeper/old'));
    expect(changes()).toEqual(['b']);
    expect(pythons.texts(actors)).toEqual([expect.stringMatching(/^Python \S+ \(\.venv\/bin\/python\)$/)]);
    const activated = meshPythons(root, folder, { ...shell, VIRTUAL_ENV: '/other' });
    expect(activated.texts(actors)).toEqual([
      expect.stringMatching(/, not the activated environment \/other$/),
    ]);
  });
});

describe('without an environment', () => {
  test('Python that is missing or too old on the PATH is a problem', () => {
    const folder = aFolder({});
    expect(findPython([folder], { PATH: folder })).toEqual({
      problem:
        'its handler needs Python 3.9 or later, which was not found on the PATH; install it and start the mesh again',
    });
    const old = join(folder, 'old/python3');
    pretendPython(old, '2.7.18');
    expect(findPython([folder], { PATH: join(old, '..') })).toEqual({
      problem: `its handler needs Python 3.9 or later, and ${old} on the PATH is Python 2.7.18; install a newer one and start the mesh again`,
    });
    const usable = join(folder, 'usable/python');
    pretendPython(usable, '3.13.1');
    const PATH = [join(old, '..'), join(usable, '..')].join(delimiter);
    expect(findPython([folder], { PATH })).toEqual({ python: usable, version: '3.13.1' });
  });
});
