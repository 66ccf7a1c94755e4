import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { actorYaml, outsideOf } from '../local/a-mesh.ts';
import { aFolder } from '../support/a-folder.ts';
import { endDevs, startDev } from './dev-process.ts';

/** Files that change on disk while `asya dev` runs. */

afterAll(endDevs);

const hasPython =
  spawnSync('python3', ['-c', 'import venv, sys; assert sys.version_info >= (3, 9)']).status === 0;

const yaml = (name: string, handler: string) => actorYaml(name).replace('step.ts.step', handler);

/** Moved into place, so that no check finds half a file. */
function replace(path: string, text: string): void {
  writeFileSync(`${path}.new~`, text);
  renameSync(`${path}.new~`, path);
}

/** Starts `asya dev m`, and sends envelopes to it. */
async function aDev(cwd: string) {
  const dev = startDev(cwd, 'm');
  const outside = outsideOf((await dev.untilRunning()).variables);
  await dev.untilPrinted(/m: \d+ actors?, .*on SQS at/);
  let sent = 0;
  return {
    dev,
    restarts: () => dev.output().match(/^.*\b(?:restarts|starts|updated|added)\b.*$/gm) ?? [],
    answerOf: async (actor: string) => {
      const id = `e-${++sent}`;
      await outside.send([actor], id);
      return outside.payloadOf(await outside.untilEnded(id, 60_000));
    },
    end: async () => {
      await outside.close();
      dev.signal('SIGTERM');
      expect(await dev.exited).toEqual({ code: 0, signal: null });
    },
  };
}

test('only the actor that imports a changed file restarts, once for each burst', {
  timeout: 240_000,
}, async () => {
  const handler = (name: string) => `import { text } from '${name}';\nexport const f = () => ({ text });\n`;
  const cwd = aFolder({
    'm/a.yaml': yaml('a', 'a.ts.f'),
    'm/b.yaml': yaml('b', 'b.ts.f'),
    'm/a.ts': handler('./prompts.ts'),
    'm/b.ts': handler('../shared/text.ts'),
    'm/prompts.ts': `export const text = 'one';\n`,
    'shared/text.ts': `export const text = 'shared';\n`,
    'v1/c.yaml': yaml('c', 'c.ts.f'),
    'v1/c.ts': `export const f = () => ({ text: 'v1' });\n`,
    'v2/c.yaml': yaml('c', 'c.ts.f').replace('8s', '7s'),
    'v2/c.ts': `export const f = () => ({ text: 'v2' });\n`,
    'v3/c.yaml': yaml('c', 'c.ts.f').replace('8s', '7s'),
    'v3/c.ts': `export const f = () => ({ text: 'v3' });\n`,
  });
  const m = (path: string) => join(cwd, 'm', path);
  // Replacing a link changes all files of a folder at once, as a checkout of another branch does.
  const checkOut = (version: string) => {
    symlinkSync(join(cwd, version), m('next'));
    renameSync(m('next'), m('c'));
  };
  checkOut('v1');
  const mesh = await aDev(cwd);
  expect(await mesh.answerOf('a')).toEqual({ text: 'one' });

  replace(m('prompts.ts'), `export const text = 'two';\n`);
  await mesh.dev.untilPrinted('a restarts: prompts.ts changed');
  await expect.poll(() => mesh.answerOf('a'), { timeout: 60_000 }).toEqual({ text: 'two' });

  mkdirSync(m('.venv/lib'), { recursive: true });
  mkdirSync(m('node_modules/x'), { recursive: true });
  for (const path of ['a.test.ts', '.venv/lib/x.py', 'node_modules/x/index.js', 'package.json'])
    replace(m(path), '{}');
  replace(join(cwd, 'shared/text.ts'), `export const text = 'changed';\n`);
  await mesh.dev.untilPrinted('b restarts: ../shared/text.ts changed');
  await expect.poll(() => mesh.answerOf('b'), { timeout: 60_000 }).toEqual({ text: 'changed' });

  // The document changes too: applying it restarts the actor, and its handler needs no second restart.
  checkOut('v2');
  await mesh.dev.untilPrinted('c was updated');
  await expect.poll(() => mesh.answerOf('c'), { timeout: 60_000 }).toEqual({ text: 'v2' });
  checkOut('v3');
  await mesh.dev.untilPrinted('c restarts: c/c.ts');
  await expect.poll(() => mesh.answerOf('c'), { timeout: 60_000 }).toEqual({ text: 'v3' });
  expect(mesh.restarts()).toEqual([
    'a restarts: prompts.ts changed',
    'b restarts: ../shared/text.ts changed',
    'c was updated',
    'c restarts: c/c.ts changed',
  ]);
  await mesh.end();
});

test('a manifest that names a missing file is applied when the file is created', {
  timeout: 240_000,
}, async () => {
  const cwd = aFolder({
    'm/a.yaml': yaml('a', 'a.ts.f'),
    'm/a.ts': `export const f = () => ({ text: 'a' });\n`,
  });
  const mesh = await aDev(cwd);
  replace(join(cwd, 'm/a.ts'), `export const f = () => ({ text: 'b' });\n`);
  await mesh.dev.untilPrinted('a restarts: a.ts changed');
  renameSync(join(cwd, 'm/a.ts'), join(cwd, 'm/renamed.ts'));
  await mesh.dev.untilPrinted('a restarts: a.ts was deleted');
  await mesh.dev.untilPrinted(/! the manifest was not applied:\n.*the file "a\.ts" does not exist/);
  mkdirSync(join(cwd, 'm/deeper/still'), { recursive: true });
  replace(join(cwd, 'm/a.yaml'), yaml('a', 'deeper/still/b.ts.f'));
  await mesh.dev.untilPrinted(
    /! the manifest was not applied:\n.*the file "deeper\/still\/b\.ts" does not exist/,
  );
  renameSync(join(cwd, 'm/renamed.ts'), join(cwd, 'm/deeper/still/b.ts'));
  await mesh.dev.untilPrinted('the manifest is valid again');
  await expect.poll(() => mesh.answerOf('a'), { timeout: 60_000 }).toEqual({ text: 'b' });
  await mesh.end();
});

const MODULE = 'only_in_this_environment';

/** A virtual environment with a module that only it has. */
function makeEnvironment(folder: string, text: string): void {
  const run = (command: string, ...args: readonly string[]) => {
    const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    return stdout.trim();
  };
  run('python3', '-m', 'venv', '--without-pip', folder);
  const where = 'import sysconfig; print(sysconfig.get_path("purelib"))';
  const packages = run(join(folder, 'bin/python'), '-c', where);
  writeFileSync(join(packages, `${MODULE}.py`), `TEXT = "${text}"\n`);
}

test.skipIf(!hasPython)(
  'handlers in Python use the .venv of the folder, also when it appears, breaks and is recreated',
  { timeout: 240_000 },
  async () => {
    const cwd = aFolder({
      'm/p.yaml': yaml('p', 'p.f'),
      'm/p.py': `from prompts import TEXT\n\ndef f(payload):\n    try:\n        from ${MODULE} import TEXT as found\n    except ImportError:\n        found = None\n    return {"prompt": TEXT, "found": found}\n`,
      'm/prompts.py': 'TEXT = "one"\n',
    });
    const environment = join(cwd, 'm/.venv');
    const mesh = await aDev(cwd);
    await mesh.dev.untilPrinted(/handlers run with Python 3\.\d+\.\d+ \(\/.*\)/);
    expect(await mesh.answerOf('p')).toEqual({ prompt: 'one', found: null });

    replace(join(cwd, 'm/prompts.py'), 'TEXT = "two"\n');
    await mesh.dev.untilPrinted('p restarts: prompts.py changed');
    await expect.poll(() => mesh.answerOf('p'), { timeout: 60_000 }).toEqual({ prompt: 'two', found: null });

    makeEnvironment(join(cwd, 'made'), 'first');
    renameSync(join(cwd, 'made'), environment);
    await mesh.dev.untilPrinted(/p restarts with Python 3\.\d+\.\d+ \(\.venv\/bin\/python\)/);
    await expect
      .poll(() => mesh.answerOf('p'), { timeout: 60_000 })
      .toEqual({ prompt: 'two', found: 'first' });

    symlinkSync('gone', join(cwd, 'gone'));
    renameSync(join(cwd, 'gone'), join(environment, 'bin/python'));
    await mesh.dev.untilPrinted(
      /! actor "p" was not started: its Python ".*\.venv\/bin\/python" is a link to ".*gone"/,
    );
    rmSync(environment, { recursive: true });
    makeEnvironment(join(cwd, 'made'), 'second');
    renameSync(join(cwd, 'made'), environment);
    await mesh.dev.untilPrinted(
      /p (starts|restarts) with Python 3\.\d+\.\d+ \(\.venv\/bin\/python\)[\s\S]*not started[\s\S]*\(\.venv\/bin\/python\)/,
    );
    await expect
      .poll(() => mesh.answerOf('p'), { timeout: 60_000 })
      .toEqual({ prompt: 'two', found: 'second' });
    await mesh.end();
  },
);
