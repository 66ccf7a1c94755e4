import type { CallResult } from '../core/delivery/outcome.ts';
import type { Envelope } from '../core/envelope/envelope.ts';
import type { Fault } from '../core/envelope/fault.ts';
import type { HandlerProgress } from '../core/envelope/handler-progress.ts';
import { headersFromHandler } from '../core/envelope/headers.ts';
import { defined } from '../core/text/defined.ts';
import { describeValue } from '../core/text/describe-value.ts';
import type { Context, HandlerResult, Progress, Route, RoutedError } from '../handler/index.ts';
import { callInProcess, type InProcessCall } from './call-in-process.ts';
import { jsonFrom } from './json-payload.ts';
import { headersFrom, valueFrom, valuesFrom } from './json-values.ts';
import { REAL_TIMEOUT_MS } from './real-time.ts';

/** The context that a handler gets, and how long a test waits for it. Every field is optional. */
export interface HandlerRunOptions {
  /** `context.envelopeId`. Default: `test-envelope`. */
  readonly envelopeId?: string;
  /** `context.parentId`. Default: undefined, as without a fan-out. */
  readonly parentId?: string;
  /** `context.actor`, also `context.route.curr`. Default: `test-actor`. */
  readonly actor?: string;
  /** `context.attempt`, at least 1. Default: 1. */
  readonly attempt?: number;
  /** `context.maxAttempts`. Default: undefined, as on a first attempt. */
  readonly maxAttempts?: number;
  /** `context.deadline`. Default: undefined. Does not shorten `timeoutMs`. */
  readonly deadline?: Date;
  /**
   * The time limit of the call in the mesh, which determines `context.timeLeftMs()` and when `context.signal` aborts.
   * Default: 300,000, the default of `actorTimeout`. The call does not end when it is over.
   */
  readonly timeoutMs?: number;
  /** `context.route`. `hop` is the length of `prev`. Default: both are empty. Example: `{ prev: ['fetch'] }`. */
  readonly route?: { readonly prev?: readonly string[]; readonly next?: readonly string[] };
  /** `context.headers`, any JSON by name. `traceparent` and `tracestate` are headers too. Default: none. */
  readonly headers?: Readonly<Record<string, unknown>>;
  /**
   * `context.error`, as if the envelope was routed here because of it. What is left out: an `mro` that contains only
   * the type, an empty message and traceback. Default: undefined.
   */
  readonly error?: Partial<RoutedError> & Pick<RoutedError, 'type'>;
  /**
   * Cancels the call when it aborts, as a host does that is about to stop. `AbortSignal.abort()` is a call that is
   * canceled from the beginning. Default: not canceled.
   */
  readonly cancel?: AbortSignal;
  /** `never`: an array is one value, as with `ASYA_FANOUT=never`. Default: `array`, each item is a separate value. */
  readonly fanOut?: 'array' | 'never';
  /** The test fails if the handler has not ended after this many milliseconds of real time. Default: 10,000. */
  readonly realTimeoutMs?: number;
}

/** What the next actor receives: the items of an array, or the value itself. Without `null` and `undefined`. */
export type ItemOf<Result> = Result extends readonly (infer Item)[] ? Item : NonNullable<Result>;

/** What a handler did. */
export interface HandlerRun<Result = unknown> {
  /**
   * The payloads that the next actor would receive: the returned value, the items of a returned array, or the yielded
   * values. Each has passed through JSON, so a `Date` is text here. Empty if the handler returned `null`, `undefined` or
   * an empty array, which ends the route.
   *
   * @throws Error if the handler failed, with what it threw as the `cause`. So a test does not need to check `error`
   * first.
   */
  readonly items: readonly ItemOf<Result>[];
  /** Each of `items` and the headers that it is sent with. Throws like `items`. */
  readonly sent: readonly SentItem<ItemOf<Result>>[];
  /** Why the handler failed, as the mesh sees it. Undefined if it succeeded. */
  readonly error: HandlerError | undefined;
  /** The route after the call, with what `setRouteNext` changed. */
  readonly route: Route;
  /** The headers after the call, with what `setHeader` and `removeHeader` changed. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** What the handler reported with `progress`, in order. The mesh forwards only a few per second. */
  readonly progress: readonly Progress[];
  /**
   * True if the handler failed after `cancel`. The mesh then sends the envelope again, and neither a policy nor an
   * attempt is used up.
   */
  readonly isResent: boolean;
}

/** One envelope that the mesh would send on. */
export interface SentItem<Payload = unknown> {
  readonly payload: Payload;
  /** The actors that it would visit. Empty if its route ends here. */
  readonly next: readonly string[];
  readonly headers: Readonly<Record<string, unknown>>;
}

/** An error as the mesh sees it. Policies match its type, its ancestors and its HTTP status. */
export interface HandlerError {
  /** The class or name of what was thrown. Example: `RateLimited`. */
  readonly type: string;
  /** The type and its ancestors. Example: `['RateLimited', 'Error', 'Exception']`. */
  readonly mro: readonly string[];
  readonly message: string;
  readonly traceback: string;
  /** The status of a failed request, if the error or one of its causes has one. Example: 429. */
  readonly httpStatus?: number;
  /** The delay that the error requests: seconds, or a time as text. Example: 30. */
  readonly retryAfter?: number | string;
  /** What the handler threw. */
  readonly thrown: unknown;
}

/**
 * Runs a handler once, with the context and the rules of the mesh: JSON in and JSON out, async and generators, errors as
 * policies see them. Never waits longer than `realTimeoutMs`.
 *
 * @param handler The function itself. For a method of a class: `scorer.score.bind(scorer)`.
 * @param payload What the handler receives, after JSON.
 * @throws TypeError (rejects) if the handler is not a function, or if JSON would change the payload or a header, for
 * example a `Date`.
 * @example
 * const { items } = await runHandler(score, { text: 'hi' }, { attempt: 2 });
 * assert.deepEqual(items, [{ text: 'hi', score: 0.9 }]);
 */
export async function runHandler<Payload, Result>(
  handler: (payload: Payload, context: Context) => HandlerResult<Result>,
  payload: NoInfer<Payload>,
  options: HandlerRunOptions = {},
): Promise<HandlerRun<Result>> {
  if (typeof handler !== 'function')
    throw new TypeError(
      `the handler is ${describeValue(handler)}; expected a function: is its export imported?`,
    );
  const { timeoutMs = 300_000, fanOut = 'array', realTimeoutMs = REAL_TIMEOUT_MS, cancel } = options;
  const envelope = envelopeFrom(payload, options);
  const progress: Progress[] = [];
  const onProgress = ({ data, ...update }: HandlerProgress) => {
    progress.push({ ...update, ...(data !== undefined && { data: valueFrom(data) }) });
  };
  const call = await callInProcess(
    handler as (payload: never, context: Context) => unknown,
    { envelope, timeoutMs, onProgress },
    { actor: envelope.route.curr, fanOut, realTimeoutMs, ...defined({ cancel }) },
  );
  const { context } = call;
  const error = errorFrom(call);
  const run = {
    error,
    route: context.route,
    headers: context.headers,
    progress,
    isResent: error !== undefined && cancel?.aborted === true,
  };
  return error === undefined
    ? { ...run, ...sentBy<ItemOf<Result>>(call.result, envelope) }
    : withoutItems<Result>(run, error);
}

function envelopeFrom(payload: unknown, options: HandlerRunOptions): Envelope {
  const { envelopeId = 'test-envelope', parentId, actor = 'test-actor', route = {}, headers = {} } = options;
  const { attempt = 1, maxAttempts, deadline, error } = options;
  return {
    id: envelopeId,
    ...defined({ parent_id: parentId }),
    route: { prev: route.prev ?? [], curr: actor, next: route.next ?? [] },
    headers: headersFrom(headers),
    payload: jsonFrom(payload, 'payload'),
    status: {
      attempt,
      ...defined({ max_attempts: maxAttempts, deadline_at: deadline?.toISOString() }),
      ...(error !== undefined && { cause: { mro: [error.type], message: '', traceback: '', ...error } }),
    },
    extra: new Map(),
  };
}

function errorFrom({ result, thrown }: InProcessCall): HandlerError | undefined {
  if (result.kind === 'fault') return handlerErrorFrom(result.fault, thrown);
  // The answer of a handler in this process can be read, unless there is a bug here.
  if (result.kind === 'frames' || result.kind === 'empty') return undefined;
  throw new Error(`the answer of the handler cannot be read: ${JSON.stringify(result)}`);
}

function handlerErrorFrom(
  { type, mro, message, traceback, httpStatus, retryAfter }: Fault,
  thrown: unknown,
): HandlerError {
  const delay = retryAfter as number | string | undefined;
  return { type, mro, message, traceback, ...defined({ httpStatus, retryAfter: delay }), thrown };
}

function sentBy<Item>(
  result: CallResult,
  { route, headers }: Envelope,
): { readonly items: readonly Item[]; readonly sent: readonly SentItem<Item>[] } {
  const frames = result.kind === 'frames' ? result.frames : [];
  const sent = frames.map((frame) => ({
    payload: valueFrom(frame.payload) as Item,
    next: frame.next ?? route.next,
    headers: valuesFrom(frame.headers === undefined ? headers : headersFromHandler(headers, frame.headers)),
  }));
  return { items: sent.map(({ payload }) => payload), sent };
}

/** Not enumerable, so that printing or comparing the run does not throw. */
function withoutItems<Result>(
  run: Omit<HandlerRun<Result>, 'items' | 'sent'>,
  { type, message, thrown }: HandlerError,
): HandlerRun<Result> {
  const get = (): never => {
    throw new Error(
      `the handler failed, so it sent nothing: ${type}: ${message}; read "error" if the test expects this`,
      {
        cause: thrown,
      },
    );
  };
  return Object.defineProperties({ ...run }, { items: { get }, sent: { get } }) as HandlerRun<Result>;
}
