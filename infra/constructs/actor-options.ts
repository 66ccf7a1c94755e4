import type { Duration } from 'aws-cdk-lib';

/** An actor that is declared in code. The same words as in a manifest, docs/manifest.md; the same rules. */
export interface ActorOptions {
  /** The function, from the mesh's folder: `score.ts.score` for Node, `score.score` for Python. */
  readonly handler?: string;
  /** A container image that holds the handler. */
  readonly image?: string;
  /** Where a runtime already listens. */
  readonly url?: string;
  /**
   * How long one call may take.
   * @default five minutes
   */
  readonly actorTimeout?: Duration;
  /**
   * How long SQS hides a delivery.
   * @default twice the timeout, and 30 s more than the function may hold a message
   */
  readonly visibilityTimeout?: Duration;
  /**
   * Policies by name, as in a manifest.
   * @default what fails goes to x-sink at once
   */
  readonly policies?: Readonly<Record<string, unknown>>;
  /**
   * Which error gets which policy.
   * @default the policy `default` for all, where there is one
   */
  readonly rules?: readonly unknown[];
  /**
   * The actor that takes what fails here.
   * @default x-sink
   */
  readonly onError?: string;
  /**
   * The most copies at once.
   * @default 10
   */
  readonly maxReplicas?: number;
  /**
   * Envelopes that one invocation takes.
   * @default 1
   */
  readonly batchSize?: number;
  /**
   * How long an invocation waits for its batch to fill.
   * @default it does not
   */
  readonly batchWindow?: Duration;
  /**
   * Calls at once in one copy.
   * @default 1
   */
  readonly concurrency?: number;
  /**
   * Memory of the function, in MB.
   * @default 512
   */
  readonly memoryMb?: number;
  /**
   * Variables for the handler.
   * @default none
   */
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * Who may follow, besides those whom the flows say.
   * @default nobody else
   */
  readonly next?: readonly string[];
  /**
   * AWS tags for everything that belongs to the actor, by the rules of AWS and at most 40. For values that are only known
   * at deployment, use `Tags.of(actor).add(key, value)`.
   * @default no tags
   */
  readonly labels?: Readonly<Record<string, string>>;
}

/** A way through the mesh. */
export interface FlowOptions {
  readonly entrypoint: string;
  /**
   * The actors after it.
   * @default none
   */
  readonly routeNext?: readonly string[];
  /**
   * The time for the whole way, in whole seconds.
   * @default no deadline
   */
  readonly timeout?: Duration;
}

/** What would stand under `spec:` in a manifest. */
export function specOf(options: ActorOptions): Record<string, unknown> {
  const { handler, image, url, environment, next, memoryMb } = options;
  return said({
    handler,
    image,
    url,
    environment,
    next,
    memory: memoryMb,
    resiliency: said({
      actorTimeout: durationOf(options.actorTimeout),
      visibilityTimeout: durationOf(options.visibilityTimeout),
      policies: options.policies,
      rules: options.rules,
      onError: options.onError,
    }),
    scaling: said({
      maxReplicas: options.maxReplicas,
      batchSize: options.batchSize,
      batchWindow: durationOf(options.batchWindow),
      concurrency: options.concurrency,
    }),
  });
}

function durationOf(duration: Duration | undefined): string | undefined {
  return duration === undefined ? undefined : `${duration.toMilliseconds()}ms`;
}

function said(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
