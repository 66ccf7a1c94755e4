import type { Resiliency } from '../../core/policy/policy.ts';
import type { Flow } from '../../core/task/flow.ts';

/** A mesh as its folder says it, compiled: what the local mesh, the infrastructure and the gateway are made from. */
export interface Manifest {
  readonly actors: readonly ActorSpec[];
  readonly flows: readonly Flow[];
}

/** One `AsyncActor` document. */
export interface ActorSpec {
  readonly name: string;
  /** The file it stands in, from the mesh's folder: handlers are found from there. */
  readonly file: string;
  /** Deployed as AWS tags on everything that belongs to the actor. Empty if it has none. */
  readonly labels: Readonly<Record<string, string>>;
  readonly runtime: RuntimeSpec;
  readonly timeoutMs: number;
  /** Undefined: derived from the timeout. */
  readonly visibilitySeconds?: number;
  /** Policies and rules, with `onError` worked in. */
  readonly resiliency: Resiliency;
  readonly scaling: Scaling;
  readonly memoryMb: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Who may follow besides those whom the flows say. */
  readonly next: readonly string[];
}

export type RuntimeSpec =
  /** `handler` as the runtime takes it, `score.ts.score` or `score.score`, from the folder of the document. */
  | { readonly kind: 'node' | 'python'; readonly handler: string }
  | { readonly kind: 'image'; readonly image: string; readonly handler?: string }
  | { readonly kind: 'url'; readonly url: string };

export interface Scaling {
  /** The most copies that work at once. */
  readonly maxReplicas: number;
  /** Envelopes that one invocation takes. */
  readonly batchSize: number;
  /** How long an invocation waits for its batch to fill. */
  readonly batchWindowSeconds: number;
  /** Calls at once in one copy. */
  readonly concurrency: number;
}
