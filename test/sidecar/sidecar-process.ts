import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

/** Real processes for the tests, each ended by its own pid at the latest when its test file ends. */

export const ROOT = join(import.meta.dirname, '../..');
const HANDLERS = join(import.meta.dirname, 'handlers');

/** The interpreter itself: a version manager's shim in between costs a tenth of a second and a process more. */
export const PYTHON = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], {
  encoding: 'utf8',
}).trim();

export function pythonRuntime(handler: string): string {
  return `${PYTHON} ${ROOT}/runtimes/python/asya_runtime.py ${handler}`;
}

export function nodeRuntime(handler: string): string {
  return `${process.execPath} ${ROOT}/runtimes/node/asya-runtime.ts ${HANDLERS}/${handler}`;
}

export type LogLine = Readonly<Record<string, unknown>>;

interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface RunningProcess {
  readonly pid: number;
  /** What it has logged so far. */
  readonly lines: readonly LogLine[];
  /** All it has printed, on both streams. */
  output(): string;
  errorOutput(): string;
  readonly exited: Promise<Exit>;
  untilLine(isIt: (line: LogLine) => boolean, withinMs?: number): Promise<LogLine>;
  untilExit(withinMs?: number): Promise<Exit>;
  signal(signal: 'SIGTERM' | 'SIGKILL'): void;
}

const started: ChildProcess[] = [];
const folders: string[] = [];

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'asya-test-'));
  folders.push(folder);
  return folder;
}

/** For the end of a test file: nothing that it started outlives it. */
export async function endProcesses(): Promise<void> {
  for (const child of started.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

export type Variables = Readonly<Record<string, string>>;

/** `asya sidecar` with these variables and none of the test's own. */
export function startSidecar(variables: Variables): RunningProcess {
  return startProcess([join(ROOT, 'bin/asya.js'), 'sidecar'], variables);
}

/** The environment of whatever is started: what every process needs, and nothing of ours. */
export function plainEnvironment(variables: Variables): Record<string, string> {
  return {
    PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
    HOME: process.env['HOME'] ?? '/',
    PYTHONPATH: HANDLERS,
    PYTHONDONTWRITEBYTECODE: '1',
    // A third of the start: dozens of processes are started here, and all load the same.
    NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/asya-test-compile'),
    ...variables,
  };
}

export function startProcess(
  nodeArguments: readonly string[],
  variables: Variables,
  folder = ROOT,
): RunningProcess {
  return watchProcess(
    spawn(process.execPath, nodeArguments, {
      cwd: folder,
      env: plainEnvironment(variables),
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
}

/** A runtime that is not the sidecar's own. */
export function startShell(command: string, variables: Variables): RunningProcess {
  return watchProcess(
    spawn('/bin/sh', ['-c', `exec ${command}`], {
      env: plainEnvironment(variables),
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
}

/** From now on it is ended with the test file, at the latest. */
export function watchProcess(child: ChildProcess): RunningProcess {
  started.push(child);
  const lines: LogLine[] = [];
  const printed: string[] = [];
  const complaints: string[] = [];
  const listeners = new Set<() => void>();
  const onChange = () => {
    for (const listener of [...listeners]) listener();
  };
  for (const stream of ['stdout', 'stderr'] as const) {
    const input = child[stream];
    if (input === null) continue;
    createInterface({ input }).on('line', (line) => {
      printed.push(line);
      if (stream === 'stderr') complaints.push(line);
      const parsed = logLine(line);
      if (parsed !== undefined) lines.push(parsed);
      onChange();
    });
  }
  let isGone = false;
  const exited = new Promise<Exit>((resolve) => {
    // `close`, not `exit`: by then all that it printed has been read.
    child.once('close', (code, signal) => {
      isGone = true;
      resolve({ code, signal });
      onChange();
    });
  });
  const tail = () => printed.slice(-15).join('\n');
  return {
    pid: child.pid ?? 0,
    lines,
    output: () => printed.join('\n'),
    errorOutput: () => complaints.join('\n'),
    exited,
    untilLine: (isIt, withinMs = 60_000) =>
      new Promise((resolve, reject) => {
        const finish = (act: () => void) => {
          clearTimeout(timer);
          listeners.delete(look);
          act();
        };
        const look = () => {
          const line = lines.find(isIt);
          if (line !== undefined) finish(() => resolve(line));
          else if (isGone)
            finish(() => reject(new Error(`the process ended before the line came:\n${tail()}`)));
        };
        const timer = setTimeout(
          () => finish(() => reject(new Error(`no such line within ${withinMs} ms:\n${tail()}`))),
          withinMs,
        );
        listeners.add(look);
        look();
      }),
    untilExit: (withinMs = 60_000) => within(exited, withinMs, () => `it did not end:\n${tail()}`),
    signal: (signal) => {
      child.kill(signal);
    },
  };
}

function logLine(line: string): LogLine | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return undefined;
  }
}

export function saying(message: string): (line: LogLine) => boolean {
  return (line) => line['message'] === message;
}

/** Several are started at once, with their runtimes, on a machine that may be busy. */
const START_WITHIN_MS = 110_000;

export function untilWorking(sidecar: RunningProcess): Promise<LogLine> {
  return sidecar.untilLine(saying('working'), START_WITHIN_MS);
}

/** The port that it logs where it may choose one itself. */
export async function metricsPort(sidecar: RunningProcess): Promise<number> {
  const line = await sidecar.untilLine(saying('serving /healthz, /readyz and /metrics'), START_WITHIN_MS);
  return line['port'] as number;
}

export async function within<T>(promise: Promise<T>, withinMs: number, words: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${words()} (within ${withinMs} ms)`)), withinMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** How often a handler was called with this counter. Its file is there a moment before its first mark. */
export function callsIn(counter: string): number {
  return existsSync(counter) ? readFileSync(counter, 'utf8').length : 0;
}

/** Polls until it holds. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  words: string | (() => string),
  withinMs = 60_000,
): Promise<void> {
  const endsAt = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > endsAt)
      throw new Error(`not so within ${withinMs} ms: ${typeof words === 'string' ? words : words()}`);
    await pause(20);
  }
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
