import type { Duration } from 'aws-cdk-lib';
import { defined } from '../../lib/core/text/defined.ts';

/**
 * Options of an actor that is declared in code. They have the same names and rules as in a manifest (docs/manifest.md).
 * Give a `handler`, an `image` with a `handler`, or a `url`.
 *
 * ```ts
 * mesh.addActor('score', {
 *   handler: 'score.ts.score',
 *   actorTimeout: Duration.seconds(30),
 *   policies: { default: { maxAttempts: 3, initialDelay: '1s' } },
 *   rules: [{ errors: ['ValueError'], policy: 'noRetry' }],
 * });
 * ```
 */
export interface ActorOptions {
  /**
   * The function, relative to the mesh's folder: `FILE.FUNCTION` for Node (`score.ts.score`), `module.function` for
   * Python (`score.score`).
   * @default none; required without `url`
   */
  readonly handler?: string;
  /**
   * A container image that contains the handler. `handler` is then relative to the image's working directory.
   * @default a Node handler is bundled into a zip file; for a Python handler an image is built
   */
  readonly image?: string;
  /**
   * Address of a runtime that already runs: `http://...` or `https://...`. The function must be able to reach it.
   * @default the sidecar starts the handler itself
   */
  readonly url?: string;
  /**
   * Maximum duration of one call. At most 14m55s on Lambda.
   * @default Duration.minutes(5)
   */
  readonly actorTimeout?: Duration;
  /**
   * How long SQS hides a message after its delivery. Whole seconds, longer than `actorTimeout`, and at least as long as
   * the function may hold a message.
   * @default twice the actor timeout, and at least 30 seconds longer than the function may hold a message
   */
  readonly visibilityTimeout?: Duration;
  /**
   * Retry policies by name, with the fields of a manifest: `{ default: { maxAttempts: 3, initialDelay: '1s' } }`.
   * @default no retries; failed envelopes go to x-sink
   */
  readonly policies?: Readonly<Record<string, unknown>>;
  /**
   * Rules that select a policy by error type: `[{ errors: ['ValueError'], policy: 'noRetry' }]`. The first match wins.
   * @default the policy `default` applies to all errors, if there is one
   */
  readonly rules?: readonly unknown[];
  /**
   * Another actor that receives the envelopes that fail here.
   * @default x-sink
   */
  readonly onError?: string;
  /**
   * Maximum number of concurrent executions of the function. From 2 to 1000.
   * @default 10
   */
  readonly maxReplicas?: number;
  /**
   * Maximum number of envelopes per invocation, from 1 to 10000. More than 10 requires a `batchWindow`.
   * @default 1
   */
  readonly batchSize?: number;
  /**
   * How long an invocation waits for its batch to fill. Whole seconds, at most 300.
   * @default Duration.seconds(0)
   */
  readonly batchWindow?: Duration;
  /**
   * Maximum number of simultaneous calls of the handler in one execution environment, from 1 to 1000.
   * @default 1
   */
  readonly concurrency?: number;
  /**
   * Memory of the function in MB, from 128 to 10240.
   * @default 512
   */
  readonly memoryMb?: number;
  /**
   * Environment variables of the handler. Names that begin with `ASYA_` are reserved. Together with the variables of the
   * sidecar they are limited to 4 KB.
   * @default none
   */
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * Environment variables of the handler whose values are stored in AWS Secrets Manager or Systems Manager:
   * `{ OPENAI_API_KEY: { secretsManager: 'my/openai', key: 'api_key' } }`. The sidecar may read exactly these, and passes
   * the values to the handler only. They are not in the template or in the function's environment.
   * @default none
   */
  readonly secrets?: Readonly<Record<string, SecretOptions>>;
  /**
   * Rights of the handler's own role, as in a manifest: `[{ actions: ['s3:GetObject'], resources: ['arn:...'] }]`. For
   * resources of your app, use their grants instead: `bucket.grantRead(mesh.actor('score'))`.
   * @default the handler gets no AWS credentials
   */
  readonly permissions?: readonly {
    readonly actions: readonly string[];
    readonly resources: readonly string[];
  }[];
  /**
   * Buckets of the mesh that the actor uses. `permissions` refer to one as `${bucket:NAME}`, and the handler reads its
   * name from `BUCKET_NAME`.
   * @default none
   */
  readonly buckets?: readonly string[];
  /**
   * Actors that the handler may add to the route, in addition to those that follow it in a flow.
   * @default none
   */
  readonly next?: readonly string[];
  /**
   * AWS tags for everything that belongs to the actor. At most 40, each valid as an AWS tag. For values that are only
   * known at deployment, use `Tags.of(actor).add(key, value)`.
   * @default no tags
   */
  readonly labels?: Readonly<Record<string, string>>;
}

/** Where the value of a handler's variable is stored. */
export type SecretOptions = SecretOfSecretsManager | SecretOfParameterStore;

export interface SecretOfSecretsManager {
  /** Name or ARN of a secret of AWS Secrets Manager, in the region of the stack unless the ARN says otherwise. */
  readonly secretsManager: string;
  /**
   * Key in the secret's JSON object.
   * @default the whole text of the secret
   */
  readonly key?: string;
  /**
   * ARN of the customer managed KMS key that encrypts the secret. The sidecar is allowed to decrypt with it.
   * @default the secret is encrypted with the key of AWS, which needs no permission
   */
  readonly kmsKey?: string;
}

export interface SecretOfParameterStore {
  /** Name or ARN of a parameter of AWS Systems Manager. A `SecureString` is decrypted. */
  readonly ssm: string;
  /**
   * ARN of the customer managed KMS key that encrypts the parameter. The sidecar is allowed to decrypt with it.
   * @default the parameter is encrypted with the key of AWS, which needs no permission, or not encrypted
   */
  readonly kmsKey?: string;
}

/** Options of a flow that is declared in code. */
export interface FlowOptions {
  /** The first actor. */
  readonly entrypoint: string;
  /**
   * The actors that follow, in this order.
   * @default none
   */
  readonly routeNext?: readonly string[];
  /**
   * Time limit for the whole route: the deadline of every envelope. Whole seconds, at least 2.
   * @default no deadline
   */
  readonly timeout?: Duration;
}

/** The options as the `spec` of a manifest document. */
export function specOf(options: ActorOptions): Record<string, unknown> {
  const { handler, image, url, environment, secrets, permissions, buckets, next, memoryMb } = options;
  return defined({
    handler,
    image,
    url,
    environment,
    secrets,
    permissions,
    buckets,
    next,
    memory: memoryMb,
    resiliency: defined({
      actorTimeout: durationOf(options.actorTimeout),
      visibilityTimeout: durationOf(options.visibilityTimeout),
      policies: options.policies,
      rules: options.rules,
      onError: options.onError,
    }),
    scaling: defined({
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
