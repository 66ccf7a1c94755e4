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
  /** The port that the system chose for `http://127.0.0.1:0/...`. */
  readonly port: number;
  readonly ended: Promise<Ended>;
  readonly stdout: () => string;
  readonly stderr: () => string;
}

export interface Start {
  readonly language: Language;
  /** The command line's argument. Default: no argument. */
  readonly handler?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** `descriptor`: as descriptors 4 and 5, whose other ends are `child.stdio[4]` and `child.stdio[5]`. */
  readonly over?: 'socket' | 'asya' | 'http' | 'http+unix' | 'descriptor';
  readonly stdin?: 'ignore' | 'pipe';
}

/** Matches the whole line, because the port is at its end. */
export const READY = / is ready at .*\n/;
const running = new Set<ChildProcess>();

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'asya-rt-'));
}

/** Kills every runtime that this test file started. Call it in `afterAll`. */
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

/** Starts a runtime without waiting until it is ready. */
export function launch(start: Start): RuntimeProcess {
  const { language, handler, over = 'socket', cwd = HANDLERS, stdin = 'ignore' } = start;
  const folder = temporaryFolder();
  const socketPath = join(folder, 'app.sock');
  const endpoint = {
    socket: { ASYA_SOCKET_PATH: socketPath },
    asya: { ASYA_RUNTIME_URL: `asya:${socketPath}` },
    http: { ASYA_RUNTIME_URL: 'http://127.0.0.1:0/invoke' },
    'http+unix': { ASYA_RUNTIME_URL: `http+unix:${socketPath}:/invoke` },
    descriptor: { ASYA_RUNTIME_FD: '4', ASYA_RUNTIME_ANSWER_FD: '5' },
  }[over];
  const args = handler === undefined ? [language.script] : [language.script, handler];
  const child = spawn(language.command, args, {
    cwd,
    env: cleanEnvironment({ ...endpoint, ...start.env }),
    stdio: [stdin, 'pipe', 'pipe', ...(over === 'descriptor' ? (['ignore', 'pipe', 'pipe'] as const) : [])],
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

/** Starts a runtime and waits until it is ready. */
export async function startRuntime(start: Start): Promise<RuntimeProcess> {
  const runtime = launch(start);
  let hasEnded = false;
  void runtime.ended.then(() => (hasEnded = true));
  await waitFor(() => hasEnded || READY.test(runtime.stderr()), 'the runtime');
  if (hasEnded) throw new Error(`the runtime did not start: ${runtime.stderr()}`);
  return runtime;
}

/** Like `startRuntime`, but kills the runtime at the end of the test. */
export async function startForTest(start: Start): Promise<RuntimeProcess> {
  const runtime = await startRuntime(start);
  killAfterTest(runtime);
  return runtime;
}

export function killAfterTest(runtime: RuntimeProcess): void {
  onTestFinished(async () => {
    runtime.child.kill('SIGKILL');
    await runtime.ended;
  });
}

/** Waits until this many calls of `sleep` or `spin` have begun, which is later than when they were sent. */
export async function untilBegun(runtime: Pick<RuntimeProcess, 'stdout'>, calls = 1): Promise<void> {
  await waitFor(() => runtime.stdout().split('begun\n').length > calls, 'the call to begin');
}

function collect(stream: NodeJS.ReadableStream | null): () => string {
  let text = '';
  stream?.setEncoding('utf8');
  stream?.on('data', (chunk: string) => (text += chunk));
  return () => text;
}

export async function waitFor(isTrue: () => boolean, what: string, timeoutMs = 60_000): Promise<void> {
  const until = performance.now() + timeoutMs;
  while (!isTrue()) {
    if (performance.now() > until) throw new Error(`timed out after ${timeoutMs} ms waiting for ${what}`);
    await pause(10);
  }
}

export async function within<T>(promise: Promise<T>, what: string, timeoutMs = 60_000): Promise<T> {
  const late = new AbortController();
  const timeout = pause(timeoutMs, undefined, { signal: late.signal }).then(() => {
    throw new Error(`timed out after ${timeoutMs} ms waiting for ${what}`);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    late.abort();
    timeout.catch(() => {});
  }
}
