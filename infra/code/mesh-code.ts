import type { Code, DockerImageCode } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { ActorSpec } from '../../lib/config/manifest/manifest.ts';
import type { FunctionPlan } from '../../lib/config/plan/function-plan.ts';
import type { Flow } from '../../lib/core/task/flow.ts';

export type FunctionCode =
  | { readonly kind: 'zip'; readonly code: Code }
  | { readonly kind: 'image'; readonly code: DockerImageCode };

/** Where the code of a mesh's functions comes from. */
export interface MeshCode {
  /** The sidecar, the actor's policies, and its handler with what runs it. */
  actor(scope: Construct, spec: ActorSpec, plan: FunctionPlan): FunctionCode;
  /** One of the crew, by its folder in `functions/`. */
  crew(scope: Construct, folder: FunctionPlan['folder']): FunctionCode;
  /** The gateway, with the flows that it offers. */
  gateway(scope: Construct, flows: readonly Flow[]): FunctionCode;
}
