import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../../../lib/handler/index.ts';

/** The same handlers as in handlers.py, under the same names, so that both languages share one table of cases. */

export function echo(payload: unknown): unknown {
  return payload;
}

export function nothing(_payload: unknown): null {
  return null;
}

export function silent(_payload: unknown): void {}

export async function later(payload: unknown): Promise<unknown> {
  await pause(10);
  return payload;
}

export function* each(payload: unknown[]): Generator {
  yield* payload;
}

export async function* endless(payload: unknown): AsyncGenerator {
  for (;;) {
    await pause(0);
    yield payload;
  }
}

export async function* eachlater(payload: unknown[]): AsyncGenerator {
  for (const item of payload) {
    await pause(0);
    yield item;
  }
}

export async function lateeach(payload: unknown[]): Promise<Generator> {
  return each(payload);
}

export class Counter {
  count = 0;

  add(payload: number): number {
    this.count += payload;
    return this.count;
  }

  async addlater(payload: number): Promise<number> {
    return this.add(payload);
  }

  static twice(payload: number): number {
    return payload * 2;
  }

  call(payload: unknown): unknown {
    return ['call', payload];
  }
}

export function known(payload: unknown, context: Context): unknown {
  return {
    payload,
    id: context.envelopeId ?? null,
    attempt: context.attempt ?? null,
    deadline: context.deadline?.toISOString().replace('.000Z', 'Z') ?? null,
    traceparent: context.traceparent ?? null,
    custom: context.headers['x-custom'] ?? null,
    error: context.error ?? null,
    key: context.idempotencyKey ?? null,
  };
}

function withDefault(payload: unknown, threshold = 0.5): unknown {
  return { payload, threshold };
}

export function reroute(payload: { next: string[] }, context: Context): unknown {
  context.setRouteNext(payload.next);
  return payload;
}

export function* rerouteeach(payload: string[], context: Context): Generator {
  for (const name of payload) {
    context.setRouteNext([name, 'last']);
    context.setHeader('x-for', name);
    yield name;
  }
}

export function cyclic(_payload: unknown): unknown {
  const value: unknown[] = [];
  value.push(value);
  return value;
}

export function odd(payload: unknown): unknown {
  return payload === 'inside' ? { value: 1n } : () => 1;
}

export function nan(_payload: unknown): number {
  return Number.NaN;
}

export async function sleep(payload: number): Promise<string> {
  console.log('begun');
  await pause(payload * 1000);
  return 'slept';
}

export function spin(_payload: unknown): never {
  console.log('begun');
  for (;;);
}

export function say(payload: unknown): string {
  console.log(payload);
  console.error('grüße');
  return 'said';
}

/** A process that lives on, with every descriptor that can be inherited. */
export function startchild(_payload: unknown): number | undefined {
  return spawn('sleep', ['600'], { stdio: 'ignore' }).pid;
}

export function leave(payload: number): never {
  process.exit(payload);
}

export function stray(_payload: unknown): string {
  void pause(20).then(() => {
    throw new RangeError('not awaited');
  });
  return 'started';
}

let arrived: (() => void) | undefined;

export async function meet(payload: unknown): Promise<unknown> {
  if (arrived !== undefined) arrived();
  else await new Promise<void>((resolve) => (arrived = resolve));
  return payload;
}

export const meetlater = (payload: unknown) => meet(payload);

export class RateLimited extends TypeError {}

class Touchy extends Error {
  get status(): number {
    throw new Error('do not touch');
  }
}

type Fields = Record<string, unknown>;

function put(target: Fields, path: string, value: unknown): void {
  const names = path.split('.');
  const last = names.pop() ?? '';
  let at = target;
  for (const name of names) {
    at[name] ??= {};
    at = at[name] as Fields;
  }
  at[last] = value;
}

interface Failure {
  readonly kind: string;
  readonly fields?: Fields;
  readonly get?: string;
  readonly value?: unknown;
}

export function fail(payload: Failure): never {
  const { kind } = payload;
  if (kind === 'plain') throw new Error('bad value');
  if (kind === 'empty') throw new Error();
  if (kind === 'touchy') throw new Touchy('careful');
  if (kind === 'thrown') throw payload.value;
  if (kind === 'named') throw Object.assign(new Error('slow down'), { name: 'Throttled' });
  if (kind === 'abort') throw AbortSignal.abort().reason;
  if (kind === 'many') throw new AggregateError([new Error('no v6'), new RangeError('no v4')]);
  if (kind === 'circle') {
    const error = new Error('round');
    error.cause = error;
    throw error;
  }
  if (kind === 'cause') {
    const inner = Object.assign(new RateLimited('slow down'), {
      statusCode: 429,
      retryAfter: 'Fri, 31 Dec 1999 23:59:59 GMT',
    });
    throw new RangeError('no price', { cause: inner });
  }
  const error = new RateLimited('slow down');
  for (const [path, value] of Object.entries(payload.fields ?? {}))
    put(error as unknown as Fields, path, value);
  if (payload.get !== undefined) {
    const headers = new Headers({ 'Retry-After': payload.get });
    put(error as unknown as Fields, 'response.headers', headers);
  }
  throw error;
}

export async function faillater(payload: Failure): Promise<void> {
  await pause(0);
  fail(payload);
}

export function* faileach(payload: Failure): Generator {
  yield 1;
  fail(payload);
}

type Callable = (payload: unknown, context?: Context) => unknown;

const ALL = {
  cyclic,
  each,
  eachlater,
  echo,
  fail,
  faileach,
  faillater,
  known,
  lateeach,
  later,
  nan,
  nothing,
  odd,
  reroute,
  rerouteeach,
  silent,
} as unknown as Readonly<Record<string, Callable>>;

/** Calls one of the handlers by name, so that one process serves a whole table of cases. */
export function run(payload: { do: string; with: unknown; ctx?: boolean }, context: Context): unknown {
  const target = ALL[payload.do];
  if (target === undefined) throw new Error(`no handler is named ${payload.do}`);
  return payload.ctx === true ? target(payload.with, context) : target(payload.with);
}

// biome-ignore lint/style/noDefaultExport: a test names a default export
export { withDefault as default };
