import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readMesh } from '../../lib/assembly/mesh/read-mesh.ts';
import { dependencyOn, packageName, runInit } from '../../lib/cli/commands/init/run-init.ts';
import { main } from '../../lib/cli/main.ts';
import { greet } from '../../templates/mesh/greet.ts';
import { aFolder } from '../support/a-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const OWN = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

interface Said {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

function init(cwd: string, folder: string, isPython = false): Said {
  const [out, err]: [string[], string[]] = [[], []];
  const status = runInit({
    folder,
    cwd,
    isPython,
    write: (line) => out.push(line),
    complain: (words) => err.push(words),
  });
  return { status, out: out.join('\n'), err: err.join('\n') };
}

describe('asya init', () => {
  it.each([
    [false, ['greet']],
    [true, ['greet', 'shout']],
  ])('makes a mesh without mistakes; in Python too: %s', (isPython, actors) => {
    const cwd = aFolder({});
    expect(init(cwd, 'new/my-mesh', isPython)).toMatchObject({ status: 0, err: '' });
    const reading = readMesh(join(cwd, 'new/my-mesh'));
    if (!('manifest' in reading)) throw new Error('it has mistakes');
    expect(reading.warnings).toEqual([]);
    expect(reading.manifest.actors.map(({ name }) => name)).toEqual(actors);
    expect(reading.manifest.flows).toMatchObject([{ name: 'hello', routeNext: actors.slice(1) }]);
  });

  it('tells what it made, and what to do next', () => {
    const { out } = init(aFolder({}), 'my mesh');
    expect(out.split('\n')).toEqual([
      'A new mesh, my-mesh: .gitignore, README.md, flows.yaml, greet.ts, greet.yaml, package.json',
      '',
      'Next:',
      "  cd 'my mesh'",
      '  npm install',
      '  npm start',
      'and in another shell, in the same folder:',
      `  npx asya send hello --payload '{"name":"you"}' --wait`,
    ]);
  });

  it('gives it a package.json that brings asya and its Node', () => {
    const cwd = aFolder({});
    init(cwd, 'My Mesh');
    const made = JSON.parse(readFileSync(join(cwd, 'My Mesh/package.json'), 'utf8'));
    expect(made).toMatchObject({
      name: 'my-mesh',
      private: true,
      type: 'module',
      scripts: { start: 'exec asya dev .' },
      devDependencies: { node: OWN.devDependencies.node },
      allowScripts: { node: true },
    });
    expect(Object.keys(made.dependencies)).toEqual([OWN.name]);
  });

  it('leaves no placeholder, and ignores what is not to be kept', () => {
    const cwd = aFolder({});
    init(cwd, 'shop', true);
    const texts = readdirSync(join(cwd, 'shop')).map((file) => readFileSync(join(cwd, 'shop', file), 'utf8'));
    expect(texts.join('\n')).not.toContain('{{');
    expect(readFileSync(join(cwd, 'shop/README.md'), 'utf8')).toContain('# shop\n');
    const ignored = readFileSync(join(cwd, 'shop/.gitignore'), 'utf8').split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['.asya/', 'node_modules/']));
  });

  it('takes an empty folder, the one it is in, and one with a repository', () => {
    const cwd = aFolder({ 'repository/.git/HEAD': '' });
    mkdirSync(join(cwd, 'empty'));
    expect(init(cwd, 'empty').status).toBe(0);
    expect(init(cwd, 'repository').status).toBe(0);
    const here = init(aFolder({}), '.');
    expect([here.status, here.out.includes('  cd ')]).toEqual([0, false]);
  });
});

describe('asya init refuses', () => {
  it('a folder that is not empty, says what is there, and leaves it as it is', () => {
    const cwd = aFolder({ 'mesh/greet.ts': 'mine', 'mesh/.env': '' });
    expect(init(cwd, 'mesh')).toEqual({
      status: 2,
      out: '',
      err: 'asya: mesh is not empty: it holds .env, greet.ts; name a folder that is new or empty',
    });
    for (const name of ['a', 'b', 'c']) writeFileSync(join(cwd, 'mesh', name), '');
    expect(init(cwd, 'mesh').err).toContain('it holds .env, a, b and 2 more;');
    expect(readFileSync(join(cwd, 'mesh/greet.ts'), 'utf8')).toBe('mine');
  });

  it('a file', () => {
    expect(init(aFolder({ mesh: '' }), 'mesh')).toMatchObject({
      status: 2,
      err: 'asya: mesh is a file; name a folder that is new or empty',
    });
  });

  it.each(['file/mesh', '/proc/mesh'])('what cannot be made, in a line: %s', (folder) => {
    const { status, err } = init(aFolder({ file: '' }), folder);
    expect(status).toBe(1);
    expect(err).toMatch(new RegExp(`^asya: ${folder} cannot be made a mesh: E[A-Z]+: .*$`));
  });

  it('a link to nowhere', () => {
    const cwd = aFolder({});
    symlinkSync(join(cwd, 'nowhere'), join(cwd, 'mesh'));
    expect(init(cwd, 'mesh')).toMatchObject({ status: 1, err: expect.stringContaining('EEXIST') });
  });
});

describe("the mesh's dependency on asya", () => {
  it('is a path from a checkout, also through links', () => {
    const cwd = aFolder({ 'asya/package.json': '{}', 'somewhere/mesh/package.json': '' });
    expect(dependencyOn(join(cwd, 'asya'), join(cwd, 'somewhere/mesh'))).toBe('file:../../asya');
    symlinkSync(join(cwd, 'somewhere/mesh'), join(cwd, 'link'));
    expect(dependencyOn(join(cwd, 'asya'), join(cwd, 'link'))).toBe('file:../../asya');
  });

  it('is a version from an installed package', () => {
    const cwd = aFolder({ 'node_modules/asya-serverless/package.json': '{"version":"1.2.3"}' });
    expect(dependencyOn(join(cwd, 'node_modules/asya-serverless'), cwd)).toBe('^1.2.3');
  });
});

describe("the package's name", () => {
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

describe("the template's handler", () => {
  it('greets, and refuses to greet nobody', () => {
    expect(greet({ name: 'you' })).toEqual({ greeting: 'Hello, you' });
    expect(() => greet({})).toThrow('no "name"');
  });
});

describe('asya init on the command line', () => {
  async function asya(cwd: string, ...argv: readonly string[]): Promise<Said> {
    const [out, err]: [string[], string[]] = [[], []];
    const status = await main(argv, {
      env: {},
      cwd,
      now: Date.now,
      print: (text) => out.push(text),
      say: (text) => err.push(text),
      isInteractive: false,
      confirm: async () => false,
      stop: () => new AbortController().signal,
    });
    return { status, out: out.join('\n'), err: err.join('\n') };
  }

  it('knows --python', async () => {
    const cwd = aFolder({});
    expect(await asya(cwd, 'init', 'mesh', '--python')).toMatchObject({ status: 0, err: '' });
    expect(readdirSync(join(cwd, 'mesh'))).toContain('shout.py');
  });

  it('needs a folder, and has help with examples', async () => {
    expect(await asya('/', 'init')).toMatchObject({
      status: 2,
      out: '',
      err: expect.stringContaining('DIR'),
    });
    expect(await asya('/', 'init', '--help')).toMatchObject({
      status: 0,
      out: expect.stringContaining('asya init ../my-mesh'),
    });
  });
});
