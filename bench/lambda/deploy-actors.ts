import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { LAMBDA, type Programs } from './execution-environment.ts';
import type { DeployedFunction } from './function-process.ts';
import { buildImage, synthesizeMesh } from './synthesize.ts';

export interface Stubs {
  readonly sqs: string;
  readonly gateway: string;
}

/** The functions of the mesh's actors, without a gateway or with one. Lambda's own variables and the stubs are added. */
export function deployActors(
  folder: string,
  programs: Programs,
  stubs: Stubs,
  { hasGateway }: { readonly hasGateway: boolean },
): readonly [node: DeployedFunction, python: DeployedFunction] {
  const suffix = hasGateway ? '-gateway' : '';
  const actors = synthesizeMesh({
    outdir: join(folder, `cdk.out${suffix}`),
    hasGateway,
    actors: ['score', 'score-py'],
    references: {
      ASYA_GATEWAY_URL: stubs.gateway,
      ASYA_GATEWAY_SECRET: randomBytes(32).toString('hex'),
    },
  });
  const deploy = (name: string, actor: string): DeployedFunction => {
    const synthesized = actors.get(actor);
    if (synthesized === undefined) throw new Error(`the template has no function of the actor "${actor}"`);
    const { environment, ...code } = synthesized;
    buildImage(code.folder, programs.path);
    return {
      name: `${name}${suffix}`,
      actor,
      ...code,
      runtime: programs.nodeRuntime,
      environment: {
        ...LAMBDA,
        PATH: programs.path,
        ...environment,
        ASYA_SQS_ENDPOINT: stubs.sqs,
      },
    };
  };
  return [deploy('node', 'score'), deploy('python', 'score-py')];
}
