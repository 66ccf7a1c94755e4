import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { extname, join } from 'node:path';
import { onLines } from '../../adapters/runtime-process/lines.ts';
import { realTimeouts } from '../../async/timeouts.ts';
import { defined } from '../../core/text/defined.ts';
import type { Attachment } from '../debugger/attachment.ts';
import { umaskArgument } from '../engines/private-files.ts';
import type { DebuggerMessage, HostMessage, InvokeMessage } from './function-messages.ts';
import type { InvocationEnd } from './invocation.ts';

/** One instance of a function: a child process with one invocation at a time. It ends with this process. */
export interface FunctionProcess {
  readonly pid: number;
  /** Resolves with undefined when the handler is loaded, otherwise with the problem, and the process ends. Never rejects. */
  readonly ready: Promise<string | undefined>;
  /** Resolves when the process has ended, with a description such as `exited with status 1`. */
  readonly exited: Promise<string>;
  isAlive(): boolean;
  invoke(event: unknown, timeoutMs: number): Promise<InvocationEnd>;
  /** Sends SIGTERM, and SIGKILL after the grace period. */
  stop(graceMs: number): Promise<void>;
}

export interface FunctionProcessOptions {
  /** A module that exports `handler`. */
  readonly file: string;
  /** The complete environment of the process. */
  readonly env: Record<string, string>;
  /**
   * Working directory.
   * @default that of this process
   */
  readonly cwd?: string;
  /** Whether a debugger is attached to the handler. Default: never. */
  readonly attachment?: Attachment;
  readonly onLine: (stream: 'stdout' | 'stderr', line: string) => void;
}

const HOST = join(import.meta.dirname, `function-host${extname(import.meta.filename)}`);
const LOADED_WITHIN_MS = 60_000;
/** How long to read the last output after the exit. Another process may keep the pipes open. */
const LAST_OUTPUT_MS = 500;
const LAST_LINES = 3;

interface Pending {
  readonly requestId: string;
  finish(end: InvocationEnd): void;
}

export function startFunction({
  file,
  env,
  cwd,
  attachment,
  onLine,
}: FunctionProcessOptions): FunctionProcess {
  const child = fork(HOST, [file, ...umaskArgument()], {
    env,
    execArgv: [],
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    ...defined({ cwd }),
  });
  // The pipe breaks when the process ends, which `exited` reports.
  child.stdin?.on('error', () => {});
  const lastOutput = forwardLines(child, onLine);
  const exited = untilGone(child);
  const timeouts = attachment?.timeouts ?? realTimeouts;
  let pending: Pending | undefined;
  let killedFor: string | undefined;

  function kill(why: string): void {
    killedFor ??= why;
    child.kill('SIGKILL');
  }

  exited.then((how) => {
    const problem = killedFor ?? `the process ${how} during an invocation`;
    pending?.finish({ ok: false, problem });
  });
  const ready = new Promise<string | undefined>((resolve) => {
    const late = `the handler was not loaded within ${LOADED_WITHIN_MS / 1000} s, and the process was killed`;
    const timer = setTimeout(() => kill(late), LOADED_WITHIN_MS);
    const settle = (problem?: string) => {
      clearTimeout(timer);
      resolve(problem);
    };
    exited.then((how) =>
      settle(
        killedFor ?? `the process ${how} while loading the handler; last output: ${lastOutput() || 'none'}`,
      ),
    );
    child.on('message', (message: HostMessage) => {
      if (message.kind === 'ready') settle();
      else if (message.kind === 'refused') settle(message.problem);
      else if (message.requestId === pending?.requestId && killedFor === undefined)
        pending.finish(endFrom(message));
    });
  });

  function invoke(event: unknown, timeoutMs: number): Promise<InvocationEnd> {
    const deadlineMs = Date.now() + timeoutMs;
    const message: InvokeMessage = { kind: 'invoke', requestId: randomUUID(), event, deadlineMs };
    const late = `the invocation exceeded its timeout of ${timeoutMs / 1000} s, and the process was killed`;
    return new Promise((resolve) => {
      const cancelTimer = timeouts.start(timeoutMs, () => kill(late));
      const finish = (end: InvocationEnd) => {
        cancelTimer();
        pending = undefined;
        resolve(end);
      };
      pending = { requestId: message.requestId, finish };
      if (!isAlive()) finish({ ok: false, problem: 'the process had ended before the invocation began' });
      // If sending fails anyway, `exited` reports the end of the process.
      else child.send(message as never, () => {});
    });
  }

  function reportDebugger({ isAttached }: Attachment): void {
    const message: DebuggerMessage = { kind: 'debugger', isAttached };
    if (isAlive()) child.send(message, () => {});
  }
  if (attachment !== undefined) {
    const stopReporting = attachment.onChange(() => reportDebugger(attachment));
    void ready.then(() => reportDebugger(attachment));
    void exited.then(stopReporting);
  }

  const isAlive = () => child.connected && child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid ?? 0,
    ready,
    exited,
    isAlive,
    invoke,
    stop: async (graceMs) => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** Returns a function for the last lines on stderr. */
function forwardLines(child: ChildProcess, onLine: FunctionProcessOptions['onLine']): () => string {
  const stderrLines: string[] = [];
  for (const stream of ['stdout', 'stderr'] as const) {
    const input = child[stream];
    if (input === null) continue;
    onLines(input, (line) => {
      if (stream === 'stderr' && line.trim() !== '') stderrLines.push(line.trim());
      if (stderrLines.length > LAST_LINES) stderrLines.shift();
      onLine(stream, line);
    });
  }
  return () => stderrLines.join(' | ');
}

function untilGone(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => {
      if (child.pid === undefined) resolve(`could not be started: ${error.message}`);
    });
    child.once('exit', (code, signal) => {
      const how = signal === null ? `exited with status ${code}` : `was terminated by ${signal}`;
      const timer = setTimeout(() => resolve(how), LAST_OUTPUT_MS);
      child.once('close', () => {
        clearTimeout(timer);
        resolve(how);
      });
    });
  });
}

function endFrom(message: Extract<HostMessage, { requestId: string }>): InvocationEnd {
  if (message.kind === 'failed') return { ok: false, problem: message.problem };
  return { ok: true, response: message.json === undefined ? undefined : JSON.parse(message.json) };
}
