import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readMesh } from '../../lib/assembly/mesh/read-mesh.ts';
import { dependencyOn, packageName } from '../../lib/cli/commands/init/run-init.ts';
import { aFolder } from '../support/a-folder.ts';
import { anInstalledMesh, runScript } from './an-installed-mesh.ts';
import { asya, type Run } from './run-asya.ts';

const ROOT = join(import.meta.dirname, '../..');
const OWN = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

function init(cwd: string, folder: string, ...options: readonly string[]): Promise<Run> {
  return asya(['init', folder, ...options], { cwd });
}

describe('asya init', () => {
  it.each([
    [[], ['greet']],
    [['--python'], ['greet', 'shout']],
  ])('creates a valid mesh; options: %j', async (options, actors) => {
    const cwd = aFolder({});
    expect(await init(cwd, 'new/my-mesh', ...options)).toMatchObject({ status: 0, err: '' });
    const reading = readMesh(join(cwd, 'new/my-mesh'));
    if (!('manifest' in reading)) throw new Error('the mesh is not valid');
    expect(reading.warnings).toEqual([]);
    expect(reading.manifest.actors.map(({ name }) => name)).toEqual(actors);
    expect(reading.manifest.flows).toMatchObject([{ name: 'hello', routeNext: actors.slice(1) }]);
  });

  it('prints the files and the next commands', async () => {
    const { out } = await init(aFolder({}), 'my mesh');
    expect(out.split('\n')).toEqual([
      'Created the mesh my-mesh: .gitignore, README.md, flows.yaml, greet.test.ts, greet.ts, greet.yaml, package.json, tsconfig.json',
      '',
      'Next:',
      "  cd 'my mesh'",
      '  npm install',
      '  npm test',
      '  npm start',
      'Then, in another shell in the same folder:',
      `  npx asya send hello --payload '{"name":"you"}' --wait`,
    ]);
  });

  it('creates a package.json that depends on asya and its Node version', async () => {
    const cwd = aFolder({});
    await init(cwd, 'My Mesh');
    const made = JSON.parse(readFileSync(join(cwd, 'My Mesh/package.json'), 'utf8'));
    expect(made).toMatchObject({
      name: 'my-mesh',
      private: true,
      type: 'module',
      scripts: {
        start: 'exec asya dev .',
        test: 'node --conditions=asya-source --test',
        check: 'asya validate .',
        types: 'tsc',
      },
      devDependencies: {
        '@types/node': OWN.devDependencies['@types/node'],
        node: OWN.devDependencies.node,
        typescript: OWN.devDependencies.typescript,
      },
      allowScripts: { node: true },
    });
    expect(Object.keys(made.dependencies)).toEqual([OWN.name]);
  });

  it.each([[[]], [['--python']]])('names in its README the files to edit; options: %j', async (options) => {
    const cwd = aFolder({});
    await init(cwd, 'shop', ...options);
    const readme = readFileSync(join(cwd, 'shop/README.md'), 'utf8');
    const named = readdirSync(join(cwd, 'shop')).filter((file) => readme.includes(`\`${file}\``));
    expect(readdirSync(join(cwd, 'shop')).filter((file) => !named.includes(file))).toEqual([
      '.gitignore',
      'README.md',
      'package.json',
      'tsconfig.json',
    ]);
  });

  it('replaces all placeholders, and creates a .gitignore', async () => {
    const cwd = aFolder({});
    await init(cwd, 'shop', '--python');
    const texts = readdirSync(join(cwd, 'shop')).map((file) => readFileSync(join(cwd, 'shop', file), 'utf8'));
    expect(texts.join('\n')).not.toContain('{{');
    expect(readFileSync(join(cwd, 'shop/README.md'), 'utf8')).toContain('# shop\n');
    expect(readFileSync(join(cwd, 'shop/test_shout.py'), 'utf8')).toContain(
      '"node_modules/asya-serverless/runtimes/python"',
    );
    const ignored = readFileSync(join(cwd, 'shop/.gitignore'), 'utf8').split('\n');
    expect(ignored).toEqual(['.asya/', '.env', '.venv/', '__pycache__/', 'cdk.out/', 'node_modules/', '']);
  });

  it('accepts an empty folder, the current folder, and one with a git repository', async () => {
    const cwd = aFolder({ 'repository/.git/HEAD': '' });
    mkdirSync(join(cwd, 'empty'));
    expect((await init(cwd, 'empty')).status).toBe(0);
    expect((await init(cwd, 'repository')).status).toBe(0);
    const here = await init(aFolder({}), '.');
    expect([here.status, here.out.includes('  cd ')]).toEqual([0, false]);
  });
});

describe('asya init rejects', () => {
  it('a folder that is not empty, and does not change it', async () => {
    const cwd = aFolder({ 'mesh/greet.ts': 'mine', 'mesh/.env': '' });
    expect(await init(cwd, 'mesh')).toMatchObject({
      status: 2,
      out: '',
      err: 'asya: mesh is not empty: it contains .env, greet.ts; expected a new or empty folder',
    });
    for (const name of ['a', 'b', 'c']) writeFileSync(join(cwd, 'mesh', name), '');
    expect((await init(cwd, 'mesh')).err).toContain('it contains .env, a, b and 2 more;');
    expect(readFileSync(join(cwd, 'mesh/greet.ts'), 'utf8')).toBe('mine');
  });

  it('a file', async () => {
    expect(await init(aFolder({ mesh: '' }), 'mesh')).toMatchObject({
      status: 2,
      err: 'asya: mesh is a file; expected a new or empty folder',
    });
  });

  it.each(['file/mesh', '/proc/mesh'])('a folder that cannot be created: %s', async (folder) => {
    const { status, err } = await init(aFolder({ file: '' }), folder);
    expect(status).toBe(1);
    expect(err).toMatch(new RegExp(`^asya: cannot create ${folder}: E[A-Z]+: .*$`));
  });

  it('a broken link', async () => {
    const cwd = aFolder({});
    symlinkSync(join(cwd, 'nowhere'), join(cwd, 'mesh'));
    expect(await init(cwd, 'mesh')).toMatchObject({ status: 1, err: expect.stringContaining('EEXIST') });
  });
});

describe('dependencyOn', () => {
  it('returns the path of a checkout, and resolves links', () => {
    const cwd = aFolder({ 'asya/package.json': '{}', 'somewhere/mesh/package.json': '' });
    expect(dependencyOn(join(cwd, 'asya'), join(cwd, 'somewhere/mesh'))).toBe('file:../../asya');
    symlinkSync(join(cwd, 'somewhere/mesh'), join(cwd, 'link'));
    expect(dependencyOn(join(cwd, 'asya'), join(cwd, 'link'))).toBe('file:../../asya');
  });

  it('returns the version of an installed package', () => {
    const cwd = aFolder({ 'node_modules/asya-serverless/package.json': '{"version":"1.2.3"}' });
    expect(dependencyOn(join(cwd, 'node_modules/asya-serverless'), cwd)).toBe('^1.2.3');
  });
});

describe('packageName', () => {
  it.each([
    ['my-mesh', 'my-mesh'],
    ['My Mesh', 'my-mesh'],
    ['Größe & Maß', 'gro-e-ma'],
    ['Café', 'cafe'],
    ['_hidden.', 'hidden'],
    ['.mesh', 'mesh'],
    ['a@b/c', 'a-b-c'],
    ['メッシュ', 'my-mesh'],
    ['...', 'my-mesh'],
    ['node_modules', 'my-mesh'],
    ['node', 'node-mesh'],
    ['asya-serverless', 'asya-serverless-mesh'],
    ['x'.repeat(300), 'x'.repeat(100)],
  ])('%s → %s', (folder, name) => {
    expect(packageName(folder)).toBe(name);
  });
});

describe('the tests that asya init writes', () => {
  it('pass in TypeScript', async () => {
    const { stdout } = await runScript(await anInstalledMesh(), 'test');
    expect(stdout).toMatch(/pass 4\n.*fail 0\n/);
  });

  it('pass in TypeScript and in Python', async () => {
    const mesh = await anInstalledMesh('--python');
    const { stdout, stderr } = await runScript(mesh, 'test');
    expect(stdout).toMatch(/pass 4\n.*fail 0\n/);
    expect(stderr).toMatch(/Ran 2 tests[\s\S]*OK/);
  });

  it('fail if the handler is changed', async () => {
    const mesh = await anInstalledMesh('--python');
    const shout = readFileSync(join(mesh, 'shout.py'), 'utf8');
    writeFileSync(join(mesh, 'shout.py'), shout.replace('"!"', '"?"'));
    await expect(runScript(mesh, 'test')).rejects.toMatchObject({
      stderr: expect.stringContaining("'HELLO, YOU?'"),
    });
    const greet = readFileSync(join(mesh, 'greet.ts'), 'utf8');
    writeFileSync(join(mesh, 'greet.ts'), greet.replace('NoName(', 'RangeError('));
    await expect(runScript(mesh, 'test')).rejects.toMatchObject({
      stdout: expect.stringMatching(/pass 2\n.*fail 2\n/),
    });
  });
});

describe('asya init on the command line', () => {
  it('accepts --python', async () => {
    const cwd = aFolder({});
    expect(await asya(['init', 'mesh', '--python'], { cwd })).toMatchObject({ status: 0, err: '' });
    expect(readdirSync(join(cwd, 'mesh'))).toContain('shout.py');
  });

  it('requires a folder, and prints help with examples', async () => {
    expect(await asya(['init'])).toMatchObject({
      status: 2,
      out: '',
      err: expect.stringContaining('DIR'),
    });
    expect(await asya(['init', '--help'])).toMatchObject({
      status: 0,
      out: expect.stringContaining('asya init ../my-mesh'),
    });
  });
});
