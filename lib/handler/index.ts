/**
 * What a handler in TypeScript imports: `import type { Context, Handler } from 'asya-serverless/handler'`.
 *
 * The types cost nothing at run time. `RetryAfter` and `NonRetryable` are two small classes without dependencies.
 */

/**
 * A handler: a function from payload to result, which may be async or a generator.
 *
 * @typeParam Payload What the handler receives. The mesh does not check it.
 * @typeParam Result What the handler returns or yields. If it returns an array, which is sent item by item, or `null` or
 * `undefined`, which end the route, name them: `Handler<Page, Line[] | null>`.
 */
export type Handler<Payload = unknown, Result = unknown> = (
  payload: Payload,
  context: Context,
) => HandlerResult<Result>;

/** A value, a promise of it, or a generator, each of whose values is sent to the next actor. */
export type HandlerResult<Result> =
  | Result
  | Promise<Result>
  | Generator<Result, void, undefined>
  | AsyncGenerator<Result, void, undefined>;

/** What a handler knows about the envelope that it processes, and what it can do besides returning a result. */
export interface Context {
  /** The id of the envelope. The same on every attempt and every redelivery. */
  readonly envelopeId: string;
  /** The envelope that this one was split from by a fan-out. Undefined for the first item and without a fan-out. */
  readonly parentId: string | undefined;
  /** The actor that this handler belongs to. */
  readonly actor: string;
  /** How many actors the envelope has passed before this one. */
  readonly hop: number;
  /** 1 for the first try, and one more for each retry at this actor. */
  readonly attempt: number;
  /** The limit of the policy that caused the retry. Undefined on the first attempt: the policy depends on the error. */
  readonly maxAttempts: number | undefined;
  /** When the flow's timeout ends. Undefined if the flow has none. */
  readonly deadline: Date | undefined;
  /** Milliseconds until this call is ended: by the actor's timeout or the deadline, whichever is first. Never negative. */
  timeLeftMs(): number;
  /** Where the envelope has been, is, and goes next. Includes the change that `setRouteNext` made. */
  readonly route: Route;
  /** The envelope's headers, not those of HTTP. Includes the changes that this handler made. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** The W3C trace context of the envelope. */
  readonly traceparent: string | undefined;
  readonly tracestate: string | undefined;
  /** Why the envelope was routed here by `onExhausted` or `_on_error`. Undefined for every other envelope. */
  readonly error: RoutedError | undefined;
  /**
   * Identifies this visit: envelope id, actor and hop. It is the same on every attempt and redelivery, so pass it to
   * services that accept an idempotency key.
   */
  readonly idempotencyKey: string;
  /**
   * Aborts shortly before the call's timeout (half a second, or a tenth of a timeout below five seconds), and when the
   * host is about to stop. Pass it to `fetch` and other calls that accept a signal. The end of the call does not abort it.
   */
  readonly signal: AbortSignal;
  /** Whether `signal` has aborted, or the call has ended and its handler left something running. */
  cancelled(): boolean;
  /**
   * Replaces the rest of the route. In a generator it applies to the values that are yielded afterwards. The mesh accepts
   * only actors that the manifest allows after this one; another name fails the envelope.
   *
   * @throws TypeError if it is not an array of text.
   */
  setRouteNext(actors: readonly string[]): void;
  /**
   * Sets a header of the envelopes that this handler sends on. The value can be any JSON.
   *
   * @throws TypeError for headers of the mesh: `traceparent`, `tracestate`, `deadline_at` and `x-asya-...`.
   */
  setHeader(name: string, value: unknown): void;
  /** Removes a header. The same rules apply as for `setHeader`. */
  removeHeader(name: string): void;
  /**
   * Reports how far the call is, to everyone who watches the task. Costs little and never fails or delays the envelope:
   * call it as often as you like, the mesh forwards a few updates per second.
   */
  progress(update: Progress): void;
}

export interface Route {
  readonly prev: readonly string[];
  readonly curr: string;
  readonly next: readonly string[];
}

/** The error because of which an envelope was routed to this actor. */
export interface RoutedError {
  readonly type: string;
  /** The type and its ancestors. */
  readonly mro: readonly string[];
  readonly message: string;
  readonly traceback: string;
}

export interface Progress {
  /** From 0 to 100; other numbers are brought into this range. */
  readonly percent?: number;
  /** One line for a person. The mesh cuts it after 1 KiB. */
  readonly message?: string;
  /** Any JSON, for programs that follow the task. The mesh leaves it out if it is larger than 4 KiB. */
  readonly data?: unknown;
}

/**
 * Throw it to ask for a retry after a delay. Whether there is a retry is still decided by the policy for this error, and
 * the policy's own delay applies if it is longer.
 *
 * @example throw new RetryAfter(30, 'the quota is used up');
 */
export class RetryAfter extends Error {
  override readonly name = 'asya.RetryAfter';
  /** Seconds. */
  readonly retryAfter: number;

  /** @throws RangeError if `seconds` is not a number of 0 or more. */
  constructor(seconds: number, message = `retry after ${seconds} s`, options?: ErrorOptions) {
    if (!Number.isFinite(seconds) || seconds < 0)
      throw new RangeError(`RetryAfter received ${seconds}; expected a number of seconds that is 0 or more`);
    super(message, options);
    this.retryAfter = seconds;
  }
}

/**
 * Throw it, or a subclass, if a retry cannot help. Unless a rule matches the error, there is no retry: the envelope
 * fails at once, or goes where `onExhausted` of the default policy sends it.
 *
 * @example throw new NonRetryable('the document has no pages');
 */
export class NonRetryable extends Error {
  override readonly name: string = 'asya.NonRetryable';
}
