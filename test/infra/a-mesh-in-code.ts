import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { ActorMesh } from '../../infra/constructs/actor-mesh.ts';
import type { ActorMeshProps } from '../../infra/constructs/actor-mesh-props.ts';
import { FLAGS, STUB_CODE, type TemplateJson } from './a-mesh-stack.ts';

/** A mesh that a CDK app declares in code, in its own stack. */
export function aMeshInCode(props: Partial<ActorMeshProps> = {}): { mesh: ActorMesh; stack: Stack } {
  const stack = new Stack(new App({ context: FLAGS }), 'Stack');
  return { mesh: new ActorMesh(stack, 'Mesh', { namespace: 'dev-hand', code: STUB_CODE, ...props }), stack };
}

export function jsonOf(stack: Stack): TemplateJson {
  return Template.fromStack(stack).toJSON() as TemplateJson;
}
