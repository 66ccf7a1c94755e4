import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { HANDLERS, type Language } from './languages.ts';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RuntimeProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly socketPath: string;
  /** Of `http://127.0.0.1:0/...`, the one it got. */
  readonly port: number;
  readonly ended: Promise<Ended>;
  readonly stdout: () => string;
  readonly stderr: () => string;
}

export interface Start {
  readonly language: Language;
  /** As the command line has it; none is no argument. */
  readonly handler?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly over?: 'socket' | 'http' | 'http+unix';
  readonly stdin?: 'ignore' | 'pipe';
}

/** The whole line: the port is at its end. */
export const READY = / is ready at .*\n/;
const running = new Set<ChildProcess>();

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'asya-rt-'));
}

/** To be called where a file of tests ends: whatever it started is gone then. */
export async function endAll(): Promise<void> {
  for (const child of running) child.kill('SIGKILL');
  await waitFor(() => running.size === 0, 'every runtime to end');
}

export function cleanEnvironment(env: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(ASYA_|VITEST|NODE_OPTIONS$|NODE_V8_COVERAGE$)/.test(name),
  );
  return { ...Object.fromEntries(inherited), PYTHONDONTWRITEBYTECODE: '1', ...env };
}

/** Starts one, whether it gets ready or not. */
export function launch(start: Start): RuntimeProcess {
  const { language, handler, over = 'socket', cwd = HANDLERS, stdin = 'ignore' } = start;
  const folder = temporaryFolder();
  const socketPath = join(folder, 'app.sock');
  const place = {
    socket: { ASYA_SOCKET_PATH: socketPath },
    http: { ASYA_RUNTIME_URL: 'http://127.0.0.1:0/invoke' },
    'http+unix': { ASYA_RUNTIME_URL: `http+unix:${socketPath}:/invoke` },
  }[over];
  const args = handler === undefined ? [language.script] : [language.script, handler];
  const child = spawn(language.command, args, {
    cwd,
    env: cleanEnvironment({ ...place, ...start.env }),
    stdio: [stdin, 'pipe', 'pipe'],
  });
  running.add(child);
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code, signal) => {
      running.delete(child);
      rmSync(folder, { recursive: true, force: true });
      resolve({ code, signal });
    });
  });
  return {
    child,
    pid: child.pid ?? 0,
    socketPath: start.env?.['ASYA_SOCKET_PATH'] ?? socketPath,
    get port() {
      return Number(/\(port (\d+)\)/.exec(stderr())?.[1] ?? 0);
    },
    ended,
    stdout,
    stderr,
  };
}

/** Starts one and waits until it is ready. */
export async function startRuntime(start: Start): Promise<RuntimeProcess> {
  const runtime = launch(start);
  let hasEnded = false;
  void runtime.ended.then(() => (hasEnded = true));
  await waitFor(() => hasEnded || READY.test(runtime.stderr()), 'the runtime');
  if (hasEnded) throw new Error(`the runtime ended at once: ${runtime.stderr()}`);
  return runtime;
}

/** As `startRuntime`, for one test alone. */
export async function startForTest(start: Start): Promise<RuntimeProcess> {
  const runtime = await startRuntime(start);
  onTestFinished(async () => {
    runtime.child.kill('SIGKILL');
    await runtime.ended;
  });
  return runtime;
}

/** So many calls of `sleep` or `spin` are under way, or were: that one was sent says nothing yet. */
export async function untilBegun(runtime: Pick<RuntimeProcess, 'stdout'>, calls = 1): Promise<void> {
  await waitFor(() => runtime.stdout().split('begun\n').length > calls, 'the call to begin');
}

function collect(stream: NodeJS.ReadableStream | null): () => string {
  let text = '';
  stream?.setEncoding('utf8');
  stream?.on('data', (chunk: string) => (text += chunk));
  return () => text;
}

export async function waitFor(isTrue: () => boolean, what: string, longestMs = 60_000): Promise<void> {
  const until = performance.now() + longestMs;
  while (!isTrue()) {
    if (performance.now() > until) throw new Error(`waited ${longestMs} ms for ${what}, in vain`);
    await pause(10);
  }
}

export async function within<T>(promise: Promise<T>, what: string, longestMs = 60_000): Promise<T> {
  const late = new AbortController();
  const timeout = pause(longestMs, undefined, { signal: late.signal }).then(() => {
    throw new Error(`waited ${longestMs} ms for ${what}, in vain`);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    late.abort();
    timeout.catch(() => {});
  }
}
