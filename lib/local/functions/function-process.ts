import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { extname, join } from 'node:path';
import { onLines } from '../../adapters/runtime-process/lines.ts';
import { defined } from '../../core/text/defined.ts';
import { umaskArgument } from '../engines/private-files.ts';
import type { HostMessage, InvokeMessage } from './function-messages.ts';
import type { InvocationEnd } from './invocation.ts';

/** One instance of a function: a process of its own, one invocation at a time. It dies with this process. */
export interface FunctionProcess {
  readonly pid: number;
  /** Undefined once the handler is loaded; else why it is not, and then the process ends. Never rejects. */
  readonly ready: Promise<string | undefined>;
  /** Resolves when it is gone, with how. */
  readonly exited: Promise<string>;
  isAlive(): boolean;
  invoke(event: unknown, timeoutMs: number): Promise<InvocationEnd>;
  /** Asked to end, and killed when it has not after so long. */
  stop(graceMs: number): Promise<void>;
}

export interface FunctionProcessOptions {
  /** Exports `handler`. */
  readonly file: string;
  /** All that it has. */
  readonly env: Record<string, string>;
  /** Where it is started; where this process was without. */
  readonly cwd?: string;
  readonly onLine: (stream: 'stdout' | 'stderr', line: string) => void;
}

const HOST = join(import.meta.dirname, `function-host${extname(import.meta.filename)}`);
const LOADED_WITHIN_MS = 60_000;
/** What it printed at last is read before its end is told, unless somebody else holds its pipes. */
const LAST_WORDS_MS = 500;
const LAST_LINES = 3;

interface Pending {
  readonly requestId: string;
  finish(end: InvocationEnd): void;
}

export function startFunction({ file, env, cwd, onLine }: FunctionProcessOptions): FunctionProcess {
  const child = fork(HOST, [file, ...umaskArgument()], {
    env,
    execArgv: [],
    stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
    ...defined({ cwd }),
  });
  // It breaks with the process, which is told by its end.
  child.stdin?.on('error', () => {});
  const lastWords = forwardLines(child, onLine);
  const exited = untilGone(child);
  let pending: Pending | undefined;
  let killedFor: string | undefined;

  function kill(why: string): void {
    killedFor ??= why;
    child.kill('SIGKILL');
  }

  exited.then((how) => {
    const problem = killedFor ?? `its process ${how} in the middle of an invocation`;
    pending?.finish({ ok: false, problem });
  });
  const ready = new Promise<string | undefined>((resolve) => {
    const late = `it was not loaded within ${LOADED_WITHIN_MS / 1000} s and was killed`;
    const timer = setTimeout(() => kill(late), LOADED_WITHIN_MS);
    const settle = (problem?: string) => {
      clearTimeout(timer);
      resolve(problem);
    };
    exited.then((how) =>
      settle(killedFor ?? `its process ${how} while it was loaded, and said: ${lastWords() || 'nothing'}`),
    );
    child.on('message', (message: HostMessage) => {
      if (message.kind === 'ready') settle();
      else if (message.kind === 'refused') settle(message.problem);
      else if (message.requestId === pending?.requestId && killedFor === undefined)
        pending.finish(endFrom(message));
    });
  });

  function invoke(event: unknown, timeoutMs: number): Promise<InvocationEnd> {
    const message: InvokeMessage = { requestId: randomUUID(), event, deadlineMs: Date.now() + timeoutMs };
    const late = `it took longer than its timeout of ${timeoutMs / 1000} s and was killed`;
    return new Promise((resolve) => {
      const timer = setTimeout(() => kill(late), timeoutMs);
      const finish = (end: InvocationEnd) => {
        clearTimeout(timer);
        pending = undefined;
        resolve(end);
      };
      pending = { requestId: message.requestId, finish };
      if (!isAlive()) finish({ ok: false, problem: 'its process was gone before the invocation began' });
      // Where it cannot be sent all the same, the process is about to be told gone.
      else child.send(message as never, () => {});
    });
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

/** Returns what was last said on stderr. */
function forwardLines(child: ChildProcess, onLine: FunctionProcessOptions['onLine']): () => string {
  const complaints: string[] = [];
  for (const stream of ['stdout', 'stderr'] as const) {
    const input = child[stream];
    if (input === null) continue;
    onLines(input, (line) => {
      if (stream === 'stderr' && line.trim() !== '') complaints.push(line.trim());
      if (complaints.length > LAST_LINES) complaints.shift();
      onLine(stream, line);
    });
  }
  return () => complaints.join(' | ');
}

function untilGone(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => {
      if (child.pid === undefined) resolve(`could not be started: ${error.message}`);
    });
    child.once('exit', (code, signal) => {
      const how = signal === null ? `exited with status ${code}` : `was ended by ${signal}`;
      const timer = setTimeout(() => resolve(how), LAST_WORDS_MS);
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
