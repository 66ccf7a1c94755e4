import type { Resiliency } from '../../core/policy/policy.ts';
import type { Flow } from '../../core/task/flow.ts';
import type { SecretReference } from '../settings/secret-reference.ts';
import type { ActorAccess } from './access.ts';

/** The compiled content of a mesh's folder: input of the local mesh, the infrastructure and the gateway. */
export interface Manifest {
  readonly actors: readonly ActorSpec[];
  readonly flows: readonly Flow[];
}

/** One `AsyncActor` document. */
export interface ActorSpec {
  readonly name: string;
  /** Its file, relative to the mesh's folder. Paths of handlers are relative to this file. */
  readonly file: string;
  /** Deployed as AWS tags on everything that belongs to the actor. Empty if it has none. */
  readonly labels: Readonly<Record<string, string>>;
  readonly runtime: RuntimeSpec;
  readonly timeoutMs: number;
  /** Undefined: derived from the timeout. */
  readonly visibilitySeconds?: number;
  /** Policies and rules, including those that `onError` adds. */
  readonly resiliency: Resiliency;
  readonly scaling: Scaling;
  readonly memoryMb: number;
  /** Variables of the handler that are not secret. */
  readonly environment: Readonly<Record<string, string>>;
  /** Variables of the handler whose values are stored elsewhere. Undefined if it has none. */
  readonly secrets?: Readonly<Record<string, SecretSpec>>;
  /** What the handler may do on AWS. Undefined: nothing. */
  readonly access?: ActorAccess;
  /** Actors that may follow in addition to those in the flows. */
  readonly next: readonly string[];
}

export interface SecretSpec {
  readonly reference: SecretReference;
  /** ARN of the customer managed KMS key that encrypts it. Undefined: the key of the AWS service. */
  readonly kmsKey?: string;
  /** Its line in the actor's file. */
  readonly line: number;
}

export type RuntimeSpec =
  /** `handler` as the runtime expects it, `score.ts.score` or `score.score`, relative to the folder of the document. */
  | { readonly kind: 'node' | 'python'; readonly handler: string }
  | { readonly kind: 'image'; readonly image: string; readonly handler?: string }
  | { readonly kind: 'url'; readonly url: string };

export interface Scaling {
  /** Maximum number of copies that run at the same time. */
  readonly maxReplicas: number;
  /** Maximum number of envelopes in one invocation. */
  readonly batchSize: number;
  /** How long an invocation waits for its batch to fill. */
  readonly batchWindowSeconds: number;
  /** Maximum number of calls at the same time in one copy. */
  readonly concurrency: number;
}
