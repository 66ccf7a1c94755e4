import type { Context, Progress, Route, RoutedError } from '../../../lib/handler/index.ts';
import { encodeResult } from '../json.ts';
import { log } from '../log.ts';
import { valueAt } from '../value-at.ts';

/** What is known about a call. What its protocol does not carry is undefined. */
export interface CallInfo {
  readonly envelopeId?: string | undefined;
  readonly parentId?: string | undefined;
  readonly actor?: string | undefined;
  readonly hop?: number | undefined;
  readonly attempt?: number | undefined;
  readonly maxAttempts?: number | undefined;
  readonly deadline?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly route?: Route | undefined;
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  readonly error?: RoutedError | undefined;
}

/** What the protocol of a call can carry back to the sidecar. */
export interface CallChannel {
  /** Why the handler cannot change the route. Undefined: it can. */
  readonly routeProblem?: string;
  /** Why the handler cannot change headers. Undefined: it can. */
  readonly headersProblem?: string;
  /** Sends a progress update. `data` is JSON, or empty. Undefined: nobody would receive it. */
  readonly sendProgress?: (head: { percent?: number; message?: string }, data: string) => void;
}

/** What the handler changed. A key is present only if the handler set it. */
interface Changes {
  readonly next?: readonly string[];
  /** All headers after the change. */
  readonly headers?: Readonly<Record<string, unknown>>;
}

/** The context of one call, and the part of it that only the runtime uses. */
export interface Call {
  readonly context: Context;
  changes(): Changes;
  /** Aborts the signal. */
  cancel(): void;
  /**
   * The call is over: what its handler left running learns it from `cancelled()`, and the signal no longer fires. A
   * listener could undo what the handler has done, and an abandoned `fetch` could end the process.
   */
  end(): void;
}

const MAX_MARGIN_MS = 500;
const NO_ROUTE: Route = { prev: [], curr: '', next: [] };

export function startCall(info: CallInfo, channel: CallChannel): Call {
  const { envelopeId, actor, hop, route = NO_ROUTE, timeoutMs = Number.POSITIVE_INFINITY } = info;
  const startedAt = performance.now();
  let next: readonly string[] | undefined;
  let headers: Readonly<Record<string, unknown>> | undefined;
  let isCancelled = false;
  let isOver = false;
  let controller: AbortController | undefined;
  let timer: NodeJS.Timeout | undefined;

  const leftMs = (): number => Math.max(0, timeoutMs - (performance.now() - startedAt));
  const untilCancelMs = (): number => leftMs() - Math.min(MAX_MARGIN_MS, timeoutMs / 10);
  const cancel = (): void => {
    isCancelled = true;
    controller?.abort(new DOMException('the call is about to be ended by the mesh', 'AbortError'));
  };
  /** A longer timer would overflow and fire at once. */
  const armTimer = (): void => {
    const waitMs = Math.min(Math.max(untilCancelMs(), 0), 2 ** 31 - 1);
    timer = setTimeout(() => (untilCancelMs() > 0 ? armTimer() : cancel()), waitMs).unref();
  };

  function changeHeaders(name: string, change: (all: Record<string, unknown>) => void): void {
    if (typeof name !== 'string' || name === '')
      throw new TypeError(`a header's name is ${JSON.stringify(name)}; expected a non-empty string`);
    if (isMeshHeader(name)) throw new TypeError(`the header "${name}" belongs to the mesh; use another name`);
    if (channel.headersProblem !== undefined) throw new Error(channel.headersProblem);
    const all = { ...(headers ?? info.headers) };
    change(all);
    headers = Object.freeze(all);
  }

  const context: Context = {
    envelopeId: envelopeId as string,
    parentId: info.parentId,
    actor: actor as string,
    hop: hop as number,
    attempt: info.attempt as number,
    maxAttempts: info.maxAttempts,
    deadline: info.deadline === undefined ? undefined : new Date(info.deadline),
    timeLeftMs: leftMs,
    get route() {
      return next === undefined ? route : { ...route, next };
    },
    get headers() {
      return headers ?? info.headers ?? {};
    },
    traceparent: info.traceparent,
    tracestate: info.tracestate,
    error: info.error,
    idempotencyKey: idempotencyKeyOf(info) as string,
    get signal() {
      if (controller === undefined) {
        controller = new AbortController();
        if (isCancelled) cancel();
        else if (!isOver && timeoutMs !== Number.POSITIVE_INFINITY) armTimer();
      }
      return controller.signal;
    },
    cancelled: () => isOver || isCancelled || untilCancelMs() <= 0,
    setRouteNext: (actors) => {
      if (channel.routeProblem !== undefined) throw new Error(channel.routeProblem);
      next = actorNames(actors);
    },
    setHeader: (name, value) => {
      const text = encodeResult(value);
      changeHeaders(name, (all) => {
        all[name] = JSON.parse(text);
      });
    },
    removeHeader: (name) =>
      changeHeaders(name, (all) => {
        delete all[name];
      }),
    progress: (update) => sendProgress(update, channel),
  };
  return {
    context,
    changes: () => ({
      ...(next === undefined ? {} : { next }),
      ...(headers === undefined ? {} : { headers }),
    }),
    cancel,
    end: () => {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

/** Undefined if the protocol of the call does not carry all of it: a key that other calls share would be harmful. */
function idempotencyKeyOf({ envelopeId, actor, hop }: CallInfo): string | undefined {
  const isKnown = envelopeId !== undefined && actor !== undefined && hop !== undefined;
  return isKnown ? `${envelopeId}:${actor}:${hop}` : undefined;
}

/** More than the mesh passes on. A longer message is cut, and larger data is left out. */
const MAX_MESSAGE_CHARACTERS = 1024;
const MAX_DATA_BYTES = 64 * 1024;

/** Progress never fails a call: what cannot be sent is left out. */
function sendProgress(update: Progress, { sendProgress: send }: CallChannel): void {
  if (send === undefined) return;
  const percent = valueAt(update, 'percent');
  const message = valueAt(update, 'message');
  const data = valueAt(update, 'data');
  let text = '';
  try {
    text = data === undefined ? '' : encodeResult(data);
    const bytes = Buffer.byteLength(text);
    if (bytes > MAX_DATA_BYTES) {
      text = '';
      throw new RangeError(`it has ${bytes} bytes; at most ${MAX_DATA_BYTES} can be sent`);
    }
  } catch (error) {
    log(`a progress update was sent without its data: ${valueAt(error, 'message')}`);
  }
  const head = {
    ...(typeof percent === 'number' && !Number.isNaN(percent)
      ? { percent: Math.min(100, Math.max(0, percent)) }
      : {}),
    ...(message === undefined || message === null
      ? {}
      : { message: String(message).slice(0, MAX_MESSAGE_CHARACTERS) }),
  };
  if (Object.keys(head).length > 0 || text !== '') send(head, text);
}

/** The sidecar checks the names, because it also knows which actors are allowed. */
function actorNames(value: unknown): readonly string[] {
  if (isStringArray(value)) return [...value];
  throw new TypeError(
    `the handler set the route to ${JSON.stringify(value)}; expected an array of actor names`,
  );
}

/** Trace context, deadline and `x-asya-*`. The sidecar ignores them in an answer. */
function isMeshHeader(name: string): boolean {
  return /^(traceparent|tracestate|deadline_at|x-asya-.*)$/i.test(name);
}

export function isStringArray(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
