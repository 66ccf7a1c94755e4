import type { Context } from '../handler/index.ts';

/** Any handler or stub: it may be async or a generator, and may take a context. */
export type HandlerFunction = (payload: never, context: Context) => unknown;

/** What enters the mesh, and how its handlers behave. Give exactly one of `flow`, `actor` and `route`. */
export interface FlowRunOptions {
  /**
   * The folder of the mesh: a path relative to the working directory, or a URL. Example: `import.meta.dirname`.
   */
  readonly mesh: string | URL;
  /** The name of a flow. The envelope gets the flow's route and timeout. */
  readonly flow?: string;
  /** The name of an actor. The route has one step, and there is no deadline. */
  readonly actor?: string;
  /** Actors in the order of the route, without a deadline. Example: `['score', 'store']`. */
  readonly route?: readonly string[];
  /** Any JSON. Default: `{}`. The `inputSchema` of a flow is not checked. */
  readonly payload?: unknown;
  /** Headers of the envelope, any JSON by name. Example: `{ _on_error: 'review' }`. Default: none. */
  readonly headers?: Readonly<Record<string, unknown>>;
  /** The id of the envelope. Default: `test-envelope`. */
  readonly envelopeId?: string;
  /**
   * Functions by actor that are called instead of the handlers in the manifest: stubs, or handlers that the test has
   * imported. Every other actor runs its real handler: Node handlers in this process, Python handlers in a child
   * process. An actor with an image or a URL needs a function here.
   */
  readonly handlers?: Readonly<Record<string, HandlerFunction>>;
  /**
   * Calls that fail, as `--fail` of `asya simulate`: `ACTOR:ERROR*N` for the first N calls of an actor, or all without
   * `*N`. The handler is not called then. Examples: `score:ValueError*2`, `score:http:429@7`, `score:timeout*1`,
   * `score:crash`.
   */
  readonly fail?: string | readonly string[];
  /**
   * How long calls take in virtual time, as `--take` of `asya simulate`: `ACTOR=DURATION`, or `DURATION` for all actors.
   * A call that takes longer than its timeout hangs, and its handler is not called. Default: `1s`.
   */
  readonly take?: string | readonly string[];
  /** The start in virtual time: a `Date`, or text in RFC 3339 format. Default: now, in whole seconds. */
  readonly at?: Date | string;
  /** Draws jitter at random from this whole number. Default: half of the maximum jitter, the same in every run. */
  readonly seed?: number;
  /** The test fails if a call has not ended after this many milliseconds of real time. Default: 10,000. */
  readonly realTimeoutMs?: number;
  /** The test fails if the envelopes have not ended after this many deliveries. Default: 20,000. */
  readonly maxDeliveries?: number;
}
