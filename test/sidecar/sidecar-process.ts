import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

/** Real processes for tests. Each is ended by its pid when its test file ends, or before. */

export const ROOT = join(import.meta.dirname, '../..');
const HANDLERS = join(import.meta.dirname, 'handlers');

/** The interpreter itself: a version manager's shim would cost 100 ms and another process. */
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
  /** The log lines so far. */
  readonly lines: readonly LogLine[];
  /** Its whole output, stdout and stderr. */
  output(): string;
  errorOutput(): string;
  readonly exited: Promise<Exit>;
  untilLine(matches: (line: LogLine) => boolean, withinMs?: number): Promise<LogLine>;
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

/** Ends every process that the test file started. */
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

/** `asya sidecar` with these variables and none of the test process's own. */
export function startSidecar(variables: Variables): RunningProcess {
  return startProcess([join(ROOT, 'bin/asya.js'), 'sidecar'], variables);
}

/** The environment of a started process: what every process needs, and nothing else of the test process's. */
export function plainEnvironment(variables: Variables): Record<string, string> {
  return {
    PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
    HOME: process.env['HOME'] ?? '/',
    PYTHONPATH: HANDLERS,
    PYTHONDONTWRITEBYTECODE: '1',
    // Saves a third of the startup time: the tests start dozens of processes that load the same code.
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

/** A runtime that the sidecar does not start. */
export function startShell(command: string, variables: Variables): RunningProcess {
  return watchProcess(
    spawn('/bin/sh', ['-c', `exec ${command}`], {
      env: plainEnvironment(variables),
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
}

/** Registers a process to be ended with the test file. */
export function watchProcess(child: ChildProcess): RunningProcess {
  started.push(child);
  const lines: LogLine[] = [];
  const printed: string[] = [];
  const errorLines: string[] = [];
  const listeners = new Set<() => void>();
  const onChange = () => {
    for (const listener of [...listeners]) listener();
  };
  for (const stream of ['stdout', 'stderr'] as const) {
    const input = child[stream];
    if (input === null) continue;
    createInterface({ input }).on('line', (line) => {
      printed.push(line);
      if (stream === 'stderr') errorLines.push(line);
      const parsed = logLine(line);
      if (parsed !== undefined) lines.push(parsed);
      onChange();
    });
  }
  let isGone = false;
  const exited = new Promise<Exit>((resolve) => {
    // `close`, not `exit`: its whole output has been read by then.
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
    errorOutput: () => errorLines.join('\n'),
    exited,
    untilLine: (matches, withinMs = 60_000) =>
      new Promise((resolve, reject) => {
        const finish = (act: () => void) => {
          clearTimeout(timer);
          listeners.delete(look);
          act();
        };
        const look = () => {
          const line = lines.find(matches);
          if (line !== undefined) finish(() => resolve(line));
          else if (isGone) finish(() => reject(new Error(`the process ended without the line:\n${tail()}`)));
        };
        const timer = setTimeout(
          () => finish(() => reject(new Error(`no matching line within ${withinMs} ms:\n${tail()}`))),
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

/** Long enough to start several sidecars and runtimes at the same time on a busy machine. */
const START_WITHIN_MS = 110_000;

export function untilWorking(sidecar: RunningProcess): Promise<LogLine> {
  return sidecar.untilLine(saying('receiving deliveries'), START_WITHIN_MS);
}

/** The port that the sidecar chose and logged. */
export async function metricsPort(sidecar: RunningProcess): Promise<number> {
  const line = await sidecar.untilLine(saying('serving /healthz, /readyz and /metrics'), START_WITHIN_MS);
  return line['port'] as number;
}

export async function within<T>(promise: Promise<T>, withinMs: number, message: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${message()} (within ${withinMs} ms)`)), withinMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** How often a handler was called with this counter. The file exists shortly before its first mark. */
export function callsIn(counter: string): number {
  return existsSync(counter) ? readFileSync(counter, 'utf8').length : 0;
}

/** Polls until the condition is true. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string | (() => string),
  withinMs = 60_000,
): Promise<void> {
  const endsAt = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > endsAt)
      throw new Error(
        `timed out after ${withinMs} ms waiting for: ${typeof what === 'string' ? what : what()}`,
      );
    await pause(20);
  }
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
