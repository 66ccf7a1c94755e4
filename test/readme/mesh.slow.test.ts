import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import type { RunningMesh } from '../../lib/assembly/mesh/running-mesh.ts';

const ROOT = join(import.meta.dirname, '../..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const ASYA = join(ROOT, 'bin/asya.js');
const run = promisify(execFile);

/** The code blocks of the README. */
const BLOCKS = [...README.matchAll(/^```[a-z]+\n([\s\S]*?)^```/gm)].map(([, text = '']) => text);

function fileOf(name: string): string {
  const block = BLOCKS.find((text) => text.startsWith(`# ${name}\n`) || text.startsWith(`// ${name}\n`));
  if (block === undefined) throw new Error(`the README shows no ${name}`);
  return block;
}

const started: ChildProcess[] = [];
const folders: string[] = [];

afterAll(async () => {
  await Promise.all(started.map(stop));
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

async function stop(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = new Promise((resolve) => child.once('exit', resolve));
    process.kill(-(child.pid ?? 0), 'SIGINT');
    await exited;
  }
  return child.exitCode;
}

/** Starts a process group, so that `stop` can send SIGINT to all of it, as Ctrl-C does. */
function start(command: string, args: readonly string[], cwd: string): ChildProcess {
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}` };
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  started.push(child);
  return child;
}

/** Runs `asya`, and retries until the mesh runs. */
async function asya(cwd: string, ...args: readonly string[]): Promise<string> {
  for (let tries = 0; ; tries++) {
    try {
      return (await run(process.execPath, [ASYA, ...args], { cwd })).stdout.trim();
    } catch (error) {
      if (tries === 200 || !String(error).includes('no mesh is running in this folder')) throw error;
      await pause(500);
    }
  }
}

describe("the README's commands", () => {
  it('npm start, asya send, the gateway, and Ctrl-C', { timeout: 300_000 }, async () => {
    const [, command = ''] = /^npx asya (send hello --payload .* --wait)$/m.exec(README) ?? [];
    const [, printed = ''] = /^This prints `(.*)`\. Press Ctrl-C/m.exec(README) ?? [];
    const mesh = start('npm', ['start'], ROOT);
    const args = command.replaceAll("'", '').split(' ');
    expect(args).toEqual(['send', 'hello', '--payload', '{"name":"you"}', '--wait']);
    expect(await asya(ROOT, ...args)).toBe(printed);
    expect(await asya(ROOT, 'status')).toMatch(/^hello: running as process \d+/);
    const { gateway } = JSON.parse(readFileSync(join(ROOT, '.asya/hello/mesh.json'), 'utf8')) as RunningMesh;
    const [create = '', list = '', watch = ''] = (BLOCKS.find((text) => text.startsWith('curl')) ?? '').split(
      '\n',
    );
    const curl = async (line: string, id = '') => {
      const env = { ...process.env, URL: gateway?.url, KEY: gateway?.key, ID: id };
      return (await run('sh', ['-c', line], { env })).stdout;
    };
    const task = JSON.parse(await curl(create)) as { id: string; state: string };
    expect(task.state).toBe('succeeded');
    expect(JSON.parse(await curl(list)).tasks[0].id).toBe(task.id);
    expect(await curl(watch, task.id)).toMatch(/^data: .*"state":"succeeded"/m);
    // The signal kills npm itself. The mesh stops properly and deletes its mesh.json.
    await stop(mesh);
    await expect.poll(() => existsSync(join(ROOT, '.asya/hello/mesh.json')), { timeout: 60_000 }).toBe(false);
  });

  it('init, the files of the README, validate, simulate, dev, send, failures and replay', {
    timeout: 300_000,
  }, async () => {
    const home = mkdtempSync(join(tmpdir(), 'asya-readme-'));
    folders.push(home);
    await asya(home, 'init', 'my-mesh');
    for (const name of ['greet.ts', 'greet.yaml', 'flows.yaml']) {
      writeFileSync(join(home, 'my-mesh', name), fileOf(name));
    }
    expect(await asya(home, 'validate', 'my-mesh')).toBe('1 actor, 1 flow: valid');
    const simulated = await asya(home, 'simulate', 'my-mesh', 'hello', '--fail', 'greet:KeyError*2');
    expect(simulated).toMatch(/^end +succeeded/m);
    const mesh = start(process.execPath, [ASYA, 'dev', 'my-mesh'], home);
    expect(await asya(home, 'send', 'hello', '--payload', '{"name":"README"}', '--wait')).toBe(
      '{"greeting":"Hello, README"}',
    );
    await expect(asya(home, 'send', 'hello', '--payload', '{}', '--wait')).rejects.toThrow(
      /NonRetryableFailure/,
    );
    const groups = JSON.parse(await asya(home, 'failures', '--json')) as readonly Record<string, string>[];
    expect(groups.map(({ errorType }) => errorType)).toEqual(['NoName']);
    const [failed = '{}'] = (await asya(home, 'failures', 'list', '--json')).split('\n');
    const shown = await asya(home, 'failures', 'show', JSON.parse(failed).envelopeId);
    expect(shown).toMatch(/decided by +rule 1, policy "noRetry"/);
    expect(await asya(home, 'replay', '--group', groups[0]?.['group'] ?? '')).toMatch(/greet +greet/);
    expect(await stop(mesh)).toBe(0);
  });
});
