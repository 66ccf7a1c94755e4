import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Writable } from 'node:stream';
import { defined } from '../../core/text/defined.ts';
import { onLines } from './lines.ts';

/** A shell command and all its descendants, in their own process group. */
export interface Child {
  readonly pid: number;
  /** Resolves when the command has ended, with how: `exited with status 1`. Its descendants may still be ending. */
  readonly exited: Promise<string>;
  /** Resolves when no process of the group is left that could accept connections. */
  readonly gone: Promise<void>;
  /** Kills the whole group at once. */
  kill(): void;
  /** Asks the group to end with SIGTERM, and kills it after this time. */
  stop(withinMs: number): Promise<void>;
}

export interface ChildOptions {
  readonly command: string;
  readonly env: Record<string, string>;
  /** The working directory. Default: that of this process. */
  readonly cwd?: string;
  readonly onLine: (stream: 'stdout' | 'stderr', line: string) => void;
  /** A longer line is passed on in pieces. Default: 256 KiB. */
  readonly maxLineLength?: number;
}

/**
 * Kills the group when this process ends, even if it is killed: a guard in the group waits for the end of a pipe whose
 * other end only this process holds. This works for every command, including one that ignores signals or never yields.
 * The guard and the shell ignore SIGTERM: only the command reacts to it, because it may have work to finish.
 */
const GUARD = '(trap "" TERM; read -r _ <&3; kill -9 0) & exec 3<&-; trap : TERM; ';
const GUARD_FD = 3;
/** A descendant that left the group may keep the output open for as long as it lives. */
const OUTPUT_CLOSED_WITHIN_MS = 10_000;

export function startChild(options: ChildOptions): Child {
  const { command, env, cwd } = options;
  const child = spawn('/bin/sh', ['-c', GUARD + command], {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    ...defined({ cwd }),
  });
  // The pipe breaks when the group is killed.
  (child.stdio[GUARD_FD] as Writable | null)?.on('error', () => {});
  forwardLines(child, options);
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`));
    child.once('exit', (code, signal) => {
      killGroup(child);
      resolve(signal === null ? statusText(code ?? 0) : `was terminated by ${signal}`);
    });
  });
  return {
    pid: child.pid ?? 0,
    exited,
    gone: outputClosed(child, exited),
    kill: () => killGroup(child),
    stop: async (withinMs) => {
      signalGroup(child, 'SIGTERM');
      const timer = setTimeout(() => killGroup(child), withinMs);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** A shell that waited for a process reports its signal as status 128 + N. */
function statusText(code: number): string {
  const signal = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
  return `exited with status ${code}${signal === undefined ? '' : ` (${signal})`}`;
}

/**
 * A killed process with much memory outlives its shell for a moment, and its socket still accepts connections. It is
 * gone when its output is closed.
 */
async function outputClosed(child: ChildProcess, exited: Promise<string>): Promise<void> {
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await exited;
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, OUTPUT_CLOSED_WITHIN_MS).unref();
  });
  await Promise.race([closed, timedOut]);
  clearTimeout(timer);
}

function forwardLines(child: ChildProcess, { onLine, maxLineLength }: ChildOptions): void {
  for (const stream of ['stdout', 'stderr'] as const) {
    const source = child[stream];
    if (source !== null) onLines(source, (line) => onLine(stream, line), maxLineLength);
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
    // The group has already ended.
  }
}
