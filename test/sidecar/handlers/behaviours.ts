import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, statSync, writeFileSync } from 'node:fs';
import type { Context } from '../../../lib/handler/index.ts';

/** behaviours.py in Node: a handler whose payload defines what it does. */

interface Behaviour {
  readonly do?: string;
  readonly value?: unknown;
  readonly error?: string;
  readonly message?: string;
  readonly status_code?: number;
  readonly retry_after?: number;
  readonly counter?: string;
  readonly times?: number;
  readonly seconds?: number;
  readonly bytes?: number;
  readonly with?: string;
  readonly text?: string;
  readonly status?: number;
  readonly pid_file?: string;
  readonly file?: string;
  readonly items?: readonly unknown[];
  readonly next?: readonly string[];
}

const pidFile = process.env['PID_FILE'];
if (pidFile !== undefined) appendFileSync(pidFile, `${process.pid}\n`);

/** What a handler does before its process ends: it releases its resources. */
const goodbyeFile = process.env['GOODBYE_FILE'];
if (goodbyeFile !== undefined) {
  process.on('exit', () => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    writeFileSync(goodbyeFile, 'goodbye');
  });
}

class ValueError extends Error {}
class KeyError extends Error {}
class RuntimeError extends Error {}
class ThrottledError extends Error {
  statusCode: number | undefined;
  retryAfter: number | undefined;
  constructor(message: string, { status_code, retry_after }: Behaviour) {
    super(message);
    this.statusCode = status_code;
    this.retryAfter = retry_after;
  }
}
class SlowDownError extends ThrottledError {}
class CalmDownError extends ThrottledError {}
class UnmatchedError extends Error {}

type ErrorClass = new (message: string, behaviour: Behaviour) => Error;
const ERRORS: Readonly<Record<string, ErrorClass>> = {
  ValueError,
  KeyError,
  TypeError: TypeError as unknown as ErrorClass,
  RuntimeError,
  ThrottledError,
  SlowDownError,
  CalmDownError,
  UnmatchedError,
};

function errorFrom(behaviour: Behaviour): Error {
  const { error = '', message = 'as requested' } = behaviour;
  const Type = ERRORS[error];
  return Type === undefined ? new Error(`unknown error: ${error}`) : new Type(message, behaviour);
}

/** How often it was called with this counter, including this call. The count survives the process. */
function count(path: string): number {
  // Appended, never rewritten: a process killed while it rewrites the file would leave it empty.
  appendFileSync(path, 'x');
  return statSync(path).size;
}

const hang = () => new Promise<void>((resolve) => setTimeout(resolve, 600_000));

export async function handle(behaviour: Behaviour): Promise<unknown> {
  const { counter, times = 1, seconds = 0 } = behaviour;
  if (counter !== undefined && count(counter) > times) return behaviour.value ?? 'done';
  switch (behaviour.do ?? 'value') {
    case 'value':
      return behaviour.value;
    case 'raise':
      throw errorFrom(behaviour);
    case 'sleep':
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      return behaviour.value ?? 'slept';
    case 'wait':
      while (!existsSync(behaviour.file ?? '')) await new Promise((resolve) => setTimeout(resolve, 20));
      return behaviour.value ?? 'waited';
    case 'hang':
      return hang();
    case 'spin':
      for (;;);
    case 'die':
      process.kill(process.pid, 'SIGKILL');
      return hang();
    case 'exit':
      process.exit(behaviour.status ?? 3);
      return undefined;
    case 'grandchild': {
      const { pid } = spawn('sleep', ['600'], { stdio: 'ignore' });
      writeFileSync(behaviour.pid_file ?? '', `${pid}\n`);
      return hang();
    }
    case 'yield':
      return each(behaviour.items ?? []);
    case 'big':
      return (behaviour.with ?? 'x').repeat(behaviour.bytes ?? 0);
    case 'print':
      console.log(behaviour.text);
      console.error(behaviour.text);
      return 'printed';
    case 'environment':
      return { ...process.env };
    default:
      throw new Error(`unknown behaviour: ${behaviour.do}`);
  }
}

async function* each(items: readonly unknown[]): AsyncGenerator<unknown> {
  yield* items;
}

/** Sets the next actors, and returns what the runtime passed about the call. */
export function rewrite(behaviour: Behaviour, context: Context): unknown {
  if (behaviour.error !== undefined) throw errorFrom(behaviour);
  if (behaviour.next !== undefined) context.setRouteNext(behaviour.next);
  if (behaviour.do === 'empty') return null;
  const { envelopeId, attempt, deadline, traceparent } = context;
  return { envelope_id: envelopeId, attempt, deadline: deadlineText(deadline), traceparent };
}

function deadlineText(deadline: Date | undefined): string | undefined {
  return deadline?.toISOString().replace('.000Z', 'Z');
}

/** Ignores the error of something that must not be possible. */
function attempt(run: () => void): void {
  try {
    run();
  } catch {
    // Refused, as it should be.
  }
}

/** Tries to change fields that belong to the sidecar. */
export function tamper(behaviour: Behaviour, context: Context): unknown {
  for (const name of Object.keys(context.headers)) attempt(() => context.removeHeader(name));
  for (const name of ['traceparent', 'x-asya-task']) attempt(() => context.setHeader(name, 'forged'));
  context.setHeader('colour', 'red');
  Object.assign(context, { envelopeId: 'forged', parentId: 'forged', hop: 99 });
  if (behaviour.next !== undefined) context.setRouteNext(behaviour.next);
  return 'tampered';
}
