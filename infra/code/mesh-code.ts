import type { Code, DockerImageCode } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { ActorSpec } from '../../lib/config/manifest/manifest.ts';
import type { FunctionPlan } from '../../lib/config/plan/function-plan.ts';
import type { Flow } from '../../lib/core/task/flow.ts';

/** Code of one function: a zip file or a container image. */
export type FunctionCode =
  | { readonly kind: 'zip'; readonly code: Code }
  | { readonly kind: 'image'; readonly code: DockerImageCode };

/** Provides the code of a mesh's functions. */
export interface MeshCode {
  /** The sidecar with the actor's policies, its handler and the runtime for it. */
  actor(scope: Construct, spec: ActorSpec, plan: FunctionPlan): FunctionCode;
  /** A function of the crew or the gateway, by its folder in `functions/`. */
  crew(scope: Construct, folder: FunctionPlan['folder']): FunctionCode;
  /** The gateway with the flows that it offers. */
  gateway(scope: Construct, flows: readonly Flow[]): FunctionCode;
}
