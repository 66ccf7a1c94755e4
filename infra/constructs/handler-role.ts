import { ArnPrincipal, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { RUNTIME } from '../../lib/config/settings/groups/runtime.ts';
import type { MeshFunction } from './mesh-function.ts';

/**
 * The role of an actor's handler. It trusts only the role of the actor's function, and that role may assume only this
 * one. The sidecar in the function gives the handler its credentials.
 */
export class HandlerRole extends Construct {
  readonly role: Role;

  constructor(scope: Construct, id: string, sidecar: MeshFunction) {
    super(scope, id);
    const { actor, config, runtime } = sidecar.plan;
    if (runtime?.kind === 'url')
      throw new Error(
        `asya: the runtime of actor "${actor}" is at a url, and the sidecar cannot give it credentials; grant the permission to the role that the runtime has there`,
      );
    const mesh = config.namespace === undefined ? '' : ` of ${config.namespace}`;
    this.role = new Role(this, 'Role', {
      assumedBy: new ArnPrincipal(sidecar.role.roleArn),
      description: `asya: handler of ${actor}${mesh}`,
    });
    sidecar.role.addToPolicy(
      new PolicyStatement({ actions: ['sts:AssumeRole'], resources: [this.role.roleArn] }),
    );
    sidecar.function.addEnvironment(RUNTIME.roleArn.variable, this.role.roleArn);
  }
}
