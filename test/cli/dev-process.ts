import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { RunningMesh } from '../../lib/assembly/mesh/running-mesh.ts';

const ROOT = join(import.meta.dirname, '../..');

/** `asya dev` as a process of its own. */
export interface DevProcess {
  readonly pid: number;
  output(): string;
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Resolves when it runs, with what it says of itself. */
  untilRunning(withinMs?: number): Promise<RunningMesh>;
  untilSays(words: string | RegExp, withinMs?: number): Promise<void>;
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
  let isGone = false;
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    // `close`, not `exit`: by then all that it printed has been read.
    child.once('close', (code, signal) => {
      isGone = true;
      resolve({ code, signal });
    }),
  );
  async function until<T>(look: () => T | undefined, what: string, withinMs: number): Promise<T> {
    const givesUpAt = Date.now() + withinMs;
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (isGone || Date.now() > givesUpAt) throw new Error(`${what}; it said:\n${output}`);
      await pause(50);
    }
  }
  return {
    pid: child.pid ?? 0,
    output: () => output,
    exited,
    untilRunning: (withinMs = 60_000) =>
      until(() => announced(cwd, args[0] ?? '', child.pid ?? 0), 'it did not start', withinMs),
    untilSays: async (words, withinMs = 60_000) => {
      const isThere = () =>
        (typeof words === 'string' ? output.includes(words) : words.test(output)) || undefined;
      await until(isThere, `it did not say ${words}`, withinMs);
    },
    signal: (signal) => child.kill(signal),
  };
}

function announced(cwd: string, name: string, pid: number): RunningMesh | undefined {
  try {
    const mesh = JSON.parse(readFileSync(join(cwd, '.asya', name, 'mesh.json'), 'utf8')) as RunningMesh;
    return mesh.pid === pid ? mesh : undefined;
  } catch {
    return undefined;
  }
}

/** For the end of a test file: nothing that it started outlives it. */
export async function endDevs(): Promise<void> {
  await Promise.all(
    started.splice(0).map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
    }),
  );
}

/** The processes whose parent this one is, and theirs. */
export function descendantsOf(pid: number): readonly number[] {
  const children = childrenOf(pid);
  return [...children, ...children.flatMap(descendantsOf)];
}

/** Of those that descend from a process, the one that runs this program. */
export function descendantNamed(pid: number, name: string): number {
  const found = descendantsOf(pid).find((one) => programOf(one) === name);
  if (found === undefined) throw new Error(`no ${name} descends from ${pid}`);
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
