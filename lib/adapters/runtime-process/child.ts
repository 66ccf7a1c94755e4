import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { onLines } from './lines.ts';
import {
  channelOf,
  type ProcessStreams,
  type SpawnedGroup,
  type SpawnOptions,
  spawnGroup,
} from './spawn-group.ts';

/** A shell command and all its descendants, in their own process group. */
export interface Child {
  readonly pid: number;
  /** In milliseconds since 1970. */
  readonly startedAtMs: number;
  /** The streams that the command inherited, if it did. */
  readonly channel: ProcessStreams | undefined;
  /** Resolves when the command has ended, with how: `exited with status 1`. Its descendants may still be ending. */
  readonly exited: Promise<string>;
  /** Resolves when no process of the group is left that could accept connections. */
  readonly gone: Promise<void>;
  /** Kills the whole group at once. */
  kill(): void;
  /** Asks the group to end with SIGTERM, and kills it after this time. */
  stop(withinMs: number): Promise<void>;
}

interface OutputOptions {
  readonly onLine: (stream: 'stdout' | 'stderr', line: string) => void;
  /** A longer line is passed on in pieces. Default: 256 KiB. */
  readonly maxLineLength?: number;
}

/** A descendant that left the group may keep the output open for as long as it lives. */
const OUTPUT_CLOSED_WITHIN_MS = 10_000;

export function startChild(options: SpawnOptions & OutputOptions): Child {
  return followGroup(spawnGroup(options), options);
}

/** Follows a command that was started before. */
export function followGroup(group: SpawnedGroup, options: OutputOptions): Child {
  const child = group.process;
  forwardLines(child, options);
  const exited = group.ended.then((end) => {
    if ('error' in end) return `could not be started: ${end.error.message}`;
    killGroup(child);
    return end.signal === null ? statusText(end.code ?? 0) : `was terminated by ${end.signal}`;
  });
  return {
    pid: child.pid ?? 0,
    startedAtMs: group.startedAtMs,
    channel: channelOf(group),
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

function forwardLines(child: ChildProcess, { onLine, maxLineLength }: OutputOptions): void {
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
