import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { RunningMesh } from '../../lib/assembly/mesh/running-mesh.ts';

const ROOT = join(import.meta.dirname, '../..');

/** `asya dev` in a child process. */
export interface DevProcess {
  readonly pid: number;
  output(): string;
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Resolves when the mesh runs, with the contents of its mesh.json. */
  untilRunning(withinMs?: number): Promise<RunningMesh>;
  untilPrinted(text: string | RegExp, withinMs?: number): Promise<void>;
  signal(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGKILL'): void;
}

const started: ChildProcess[] = [];

export function startDev(cwd: string, ...args: readonly string[]): DevProcess {
  return startDevIn(cwd, process.env, ...args);
}

export function startDevIn(cwd: string, env: NodeJS.ProcessEnv, ...args: readonly string[]): DevProcess {
  const child = spawn(process.execPath, [join(ROOT, 'bin/asya.js'), 'dev', ...args], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)));
  let hasExited = false;
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    // `close`, not `exit`: all output has been read by then.
    child.once('close', (code, signal) => {
      hasExited = true;
      resolve({ code, signal });
    }),
  );
  async function until<T>(find: () => T | undefined, failure: string, withinMs: number): Promise<T> {
    const deadline = Date.now() + withinMs;
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      if (hasExited || Date.now() > deadline) throw new Error(`${failure}; output:\n${output}`);
      await pause(50);
    }
  }
  return {
    pid: child.pid ?? 0,
    output: () => output,
    exited,
    untilRunning: (withinMs = 60_000) =>
      until(() => readMeshFile(cwd, args[0] ?? '', child.pid ?? 0), 'asya dev did not start', withinMs),
    untilPrinted: async (text, withinMs = 60_000) => {
      const isPrinted = () =>
        (typeof text === 'string' ? output.includes(text) : text.test(output)) || undefined;
      await until(isPrinted, `not printed: ${text}`, withinMs);
    },
    signal: (signal) => child.kill(signal),
  };
}

function readMeshFile(cwd: string, name: string, pid: number): RunningMesh | undefined {
  try {
    const mesh = JSON.parse(readFileSync(join(cwd, '.asya', name, 'mesh.json'), 'utf8')) as RunningMesh;
    return mesh.pid === pid ? mesh : undefined;
  } catch {
    return undefined;
  }
}

/** For `afterAll`: ends all processes that this test file started. */
export async function endDevs(): Promise<void> {
  await Promise.all(
    started.splice(0).map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await exited;
    }),
  );
}

/** Child processes, and theirs. */
export function descendantsOf(pid: number): readonly number[] {
  const children = childrenOf(pid);
  return [...children, ...children.flatMap(descendantsOf)];
}

/** The descendant of a process that runs this program. */
export function descendantNamed(pid: number, name: string): number {
  const found = descendantsOf(pid).find((one) => programOf(one) === name);
  if (found === undefined) throw new Error(`process ${pid} has no descendant ${name}`);
  return found;
}

function programOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return '';
  }
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .filter(Boolean)
      .map(Number);
  } catch {
    return [];
  }
}
