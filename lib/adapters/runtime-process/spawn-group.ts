import { type ChildProcess, spawn } from 'node:child_process';
import type { Duplex, Readable } from 'node:stream';
import { ANSWERS_FD, CALLS_FD } from '../../config/settings/bundled-runtime.ts';

/** A command whose process group was started, and when. */
export interface SpawnedGroup {
  readonly process: ChildProcess;
  /** In milliseconds since 1970. */
  readonly startedAtMs: number;
  /** How the command ended. A promise, so that it is known to those who ask later. */
  readonly ended: Promise<
    { readonly error: Error } | { readonly code: number | null; readonly signal: string | null }
  >;
}

/** Two streams, so that answers can still be read after a call could not be written. */
export interface ProcessStreams {
  /** Calls leave on it, and nothing arrives. */
  readonly calls: Duplex;
  /** Answers arrive on it. */
  readonly answers: Readable;
}

export interface SpawnOptions {
  readonly command: string;
  readonly env: Record<string, string>;
  /** The working directory. Default: that of this process. */
  readonly cwd?: string;
  /** Whether the command inherits streams to this process, as descriptors `CALLS_FD` and `ANSWERS_FD`. */
  readonly hasChannel?: boolean;
}

/**
 * Kills the group when this process ends, even if it is killed: a guard in the group waits for the end of a pipe whose
 * other end only this process holds. This works for every command, including one that ignores signals or never yields.
 * The guard and the shell ignore SIGTERM: only the command reacts to it, because it may have work to finish.
 */
const GUARD = `(trap "" TERM; exec ${CALLS_FD}<&- ${ANSWERS_FD}<&-; read -r _ <&3; kill -9 0) & exec 3<&-; trap : TERM; `;
const GUARD_FD = 3;

/**
 * Starts a shell command in its own process group. A file of its own with few imports, so that a function can start its
 * runtime before it loads anything else.
 */
export function spawnGroup({ command, env, cwd, hasChannel }: SpawnOptions): SpawnedGroup {
  const startedAtMs = Date.now();
  const child = spawn('/bin/sh', ['-c', GUARD + command], {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', ...(hasChannel ? (['pipe', 'pipe'] as const) : [])],
    ...(cwd !== undefined && { cwd }),
  });
  // The pipe breaks when the group is killed.
  child.stdio[GUARD_FD]?.on('error', () => {});
  const ended: SpawnedGroup['ended'] = new Promise((resolve) => {
    child.once('error', (error) => resolve({ error }));
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  return { process: child, startedAtMs, ended };
}

/** The streams to a command that inherited them. */
export function channelOf({ process }: SpawnedGroup): ProcessStreams | undefined {
  const streams: readonly unknown[] = process.stdio;
  if (!streams[CALLS_FD] || !streams[ANSWERS_FD]) return undefined;
  return { calls: streams[CALLS_FD] as Duplex, answers: streams[ANSWERS_FD] as Readable };
}
