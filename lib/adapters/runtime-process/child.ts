import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { onLines } from './lines.ts';

/** A runtime's process, and whatever it started, in a process group of its own. */
export interface Child {
  readonly pid: number;
  /** Resolves when it ended, with how. What it started may still be dying. */
  readonly exited: Promise<string>;
  /** Resolves when nobody of its group can answer for it any more. */
  readonly gone: Promise<void>;
  /** At once and for good: nothing it started survives. */
  kill(): void;
  /** Asked to end; killed when it has not after so long. */
  stop(withinMs: number): Promise<void>;
}

export interface ChildOptions {
  readonly command: string;
  readonly env: Record<string, string>;
  /** Where it is started; where this process was without. */
  readonly cwd?: string;
  readonly onLine: (stream: 'stdout' | 'stderr', line: string) => void;
}

/**
 * The group dies with the sidecar, however that dies: a guard in it waits for the end of a pipe whose other end only
 * the sidecar holds. It works for every command, also for one that ignores signals or spins. Neither the guard nor the
 * shell ends when the group is asked to: that is for the command, which may have something to finish.
 */
const GUARDED = '(trap "" TERM; read -r _ <&3; kill -9 0) & exec 3<&-; trap : TERM; ';
const GUARD_FD = 3;
/** A grandchild that left the group may hold the output for as long as it lives; it is waited for no longer than this. */
const GONE_WITHIN_MS = 10_000;

export function startChild({ command, env, cwd, onLine }: ChildOptions): Child {
  const child = spawn('/bin/sh', ['-c', GUARDED + command], {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  });
  // The pipe breaks when the group is killed, which is as it should be.
  (child.stdio[GUARD_FD] as Writable | null)?.on('error', () => {});
  forwardLines(child, onLine);
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`));
    child.once('exit', (code, signal) => {
      killGroup(child);
      resolve(signal === null ? `exited with status ${code}` : `was ended by ${signal}`);
    });
  });
  return {
    pid: child.pid ?? 0,
    exited,
    gone: outputEnded(child, exited),
    kill: () => killGroup(child),
    stop: async (withinMs) => {
      signalGroup(child, 'SIGTERM');
      const timer = setTimeout(() => killGroup(child), withinMs);
      await exited;
      clearTimeout(timer);
    },
  };
}

/**
 * Killed with much memory, a command outlives the shell that started it, and its socket takes connections meanwhile:
 * it is dead when its output is closed.
 */
async function outputEnded(child: ChildProcess, exited: Promise<string>): Promise<void> {
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await exited;
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, GONE_WITHIN_MS).unref();
  });
  await Promise.race([closed, tooLong]);
  clearTimeout(timer);
}

function forwardLines(child: ChildProcess, onLine: ChildOptions['onLine']): void {
  for (const stream of ['stdout', 'stderr'] as const) {
    const source = child[stream];
    if (source !== null) onLines(source, (line) => onLine(stream, line));
  }
}

function killGroup(child: ChildProcess): void {
  signalGroup(child, 'SIGKILL');
}

function signalGroup(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group is gone already: there is nobody left to tell.
  }
}
