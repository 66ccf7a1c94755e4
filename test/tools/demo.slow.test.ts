import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import stringWidth from 'string-width';
import { afterAll, expect, test } from 'vitest';
import { MAX_COLUMNS } from '../../tools/demo-table.ts';
import { descendantsOf } from '../cli/dev-process.ts';
import { aFolder } from '../support/a-folder.ts';
import { isAlive } from '../support/pids.ts';

/** `npm run demo -- --keep`, with the commands that it prints. */

const ROOT = join(import.meta.dirname, '../..');
const ROWS = 12;
const started: ChildProcess[] = [];

afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
});

function startDemo(env: NodeJS.ProcessEnv, ...args: readonly string[]) {
  const demo = spawn(process.execPath, ['tools/demo.ts', ...args], { cwd: ROOT, env });
  started.push(demo);
  let output = '';
  for (const stream of [demo.stdout, demo.stderr]) stream.on('data', (text) => (output += String(text)));
  const exited = new Promise((resolve) => demo.once('close', (code, signal) => resolve({ code, signal })));
  return {
    demo,
    exited,
    output: () => output,
    untilPrinted: async (text: string) => {
      const isPrinted = () => output.includes(text) || demo.exitCode !== null;
      await expect.poll(isPrinted, { timeout: 400_000, interval: 200 }).toBe(true);
      expect(output).toContain(text);
    },
  };
}

test('the demo is as expected, keeps its mesh, and ends with its status on Ctrl-C', {
  timeout: 600_000,
}, async () => {
  const { demo, exited, ...kept } = startDemo(process.env, '--keep');
  await kept.untilPrinted('npx asya send');
  const output = kept.output();
  expect(output).toContain(`all ${ROWS} as expected`);
  expect(output.split('\n').filter((line) => line.startsWith('ok  '))).toHaveLength(ROWS);
  const [, folder = ''] = /^ {2}cd (.+)$/m.exec(output) ?? [];
  const isLong = (line: string) => stringWidth(line) > MAX_COLUMNS && !line.includes(folder);
  expect(output.split('\n').filter(isLong)).toEqual([]);

  const commands = [...output.matchAll(/^ {2}(npx asya .+)$/gm)].map(([, command = '']) => command);
  expect(commands).toHaveLength(4);
  const printed = commands.map((command) => {
    const { status, stdout, stderr } = spawnSync(command, { cwd: folder, shell: true, encoding: 'utf8' });
    expect([command, status, stderr.includes('asya:')]).toEqual([command, 0, false]);
    return stdout;
  });
  const [, url = ''] = /^ {2}gateway (\S+)$/m.exec(output) ?? [];
  const [, key = ''] = /^ {2}key {5}(\S+)$/m.exec(output) ?? [];
  expect(printed[0]).toContain(key);
  expect(printed[1]).toContain('never-succeeds');
  expect(printed[2]).toContain('kills-its-function');
  expect(JSON.parse(printed[3] ?? '')).toEqual({ n: 1, isDone: true });
  expect((await fetch(`${url}/tasks`, { headers: { authorization: `Bearer ${key}` } })).status).toBe(200);

  const again = spawnSync(process.execPath, ['tools/demo.ts', '--keep'], { cwd: ROOT, encoding: 'utf8' });
  expect([again.status, again.stderr]).toEqual([
    2,
    `demo: the demo is already running as process ${demo.pid}; stop it first\n`,
  ]);

  const processes = descendantsOf(demo.pid ?? 0);
  expect(processes.length).toBeGreaterThan(ROWS);
  demo.kill('SIGINT');
  expect(await exited).toEqual({ code: 0, signal: null });
  await expect.poll(() => processes.filter(isAlive), { timeout: 60_000 }).toEqual([]);
  expect(existsSync(join(ROOT, '.asya/demo'))).toBe(false);
});

test('Ctrl-C before the end of the demo ends it with status 130, and leaves nothing behind', {
  timeout: 240_000,
}, async () => {
  const folder = aFolder({});
  const { demo, exited, untilPrinted } = startDemo({ ...process.env, TMPDIR: folder });
  await untilPrinted('sending one envelope to each flow');
  const processes = descendantsOf(demo.pid ?? 0);
  demo.kill('SIGINT');
  expect(await exited).toEqual({ code: 130, signal: null });
  expect(readdirSync(folder)).toEqual([]);
  await expect.poll(() => processes.filter(isAlive), { timeout: 60_000 }).toEqual([]);
});
