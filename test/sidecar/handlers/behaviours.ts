import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, statSync, writeFileSync } from 'node:fs';
import type { HandlerContext } from '../../../runtimes/node/asya-runtime.ts';

/** behaviours.py in Node: a handler whose payload defines what it does. */

interface Order {
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
  readonly words?: string;
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
  constructor(message: string, { status_code, retry_after }: Order) {
    super(message);
    this.statusCode = status_code;
    this.retryAfter = retry_after;
  }
}
class SlowDownError extends ThrottledError {}
class CalmDownError extends ThrottledError {}
class UnheardOfError extends Error {}

type ErrorClass = new (message: string, order: Order) => Error;
const ERRORS: Readonly<Record<string, ErrorClass>> = {
  ValueError,
  KeyError,
  TypeError: TypeError as unknown as ErrorClass,
  RuntimeError,
  ThrottledError,
  SlowDownError,
  CalmDownError,
  UnheardOfError,
};

function errorFrom(order: Order): Error {
  const { error = '', message = 'as requested' } = order;
  const Type = ERRORS[error];
  return Type === undefined ? new Error(`the test says ${error}`) : new Type(message, order);
}

/** How often it was called with this counter, including this call. The count survives the process. */
function count(path: string): number {
  // Appended, never rewritten: a process killed while it rewrites the file would leave it empty.
  appendFileSync(path, 'x');
  return statSync(path).size;
}

const forEver = () => new Promise<void>((resolve) => setTimeout(resolve, 600_000));

export async function handle(order: Order): Promise<unknown> {
  const { counter, times = 1, seconds = 0 } = order;
  if (counter !== undefined && count(counter) > times) return order.value ?? 'done';
  switch (order.do ?? 'value') {
    case 'value':
      return order.value;
    case 'raise':
      throw errorFrom(order);
    case 'sleep':
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      return order.value ?? 'slept';
    case 'wait':
      while (!existsSync(order.file ?? '')) await new Promise((resolve) => setTimeout(resolve, 20));
      return order.value ?? 'waited';
    case 'hang':
      return forEver();
    case 'spin':
      for (;;);
    case 'die':
      process.kill(process.pid, 'SIGKILL');
      return forEver();
    case 'exit':
      process.exit(order.status ?? 3);
      return undefined;
    case 'grandchild': {
      const { pid } = spawn('sleep', ['600'], { stdio: 'ignore' });
      writeFileSync(order.pid_file ?? '', `${pid}\n`);
      return forEver();
    }
    case 'yield':
      return each(order.items ?? []);
    case 'big':
      return (order.with ?? 'x').repeat(order.bytes ?? 0);
    case 'say':
      console.log(order.words);
      console.error(order.words);
      return 'said';
    case 'environment':
      return { ...process.env };
    default:
      throw new Error(`the test says ${order.do}`);
  }
}

async function* each(items: readonly unknown[]): AsyncGenerator<unknown> {
  yield* items;
}

/** Sets the next actors, and returns what the runtime passed about the call. */
export function rewrite(order: Order, context: HandlerContext): unknown {
  if (order.error !== undefined) throw errorFrom(order);
  if (order.next !== undefined) context.routeNext = order.next;
  if (order.do === 'empty') return null;
  const { envelopeId, attempt, deadline, traceparent } = context;
  return { envelope_id: envelopeId, attempt, deadline, traceparent };
}

/** Tries to change fields that belong to the sidecar. */
export function tamper(order: Order, context: HandlerContext): unknown {
  context.headers = { traceparent: '00-forged', 'x-asya-task': 'forged', colour: 'red' };
  Object.assign(context.envelope ?? {}, { id: 'forged', parent_id: 'forged', status: { phase: 'canceled' } });
  if (order.next !== undefined) context.routeNext = order.next;
  return 'tampered';
}
