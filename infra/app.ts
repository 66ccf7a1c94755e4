import { basename, resolve } from 'node:path';
import { App } from 'aws-cdk-lib';
import { readMesh } from '../lib/assembly/mesh/read-mesh.ts';
import { isActorName } from '../lib/core/envelope/actor-name.ts';
import { type Mistake, mistakesText } from '../lib/core/text/mistake.ts';
import { MeshStack, namespaceOf } from './stacks/mesh-stack.ts';
import { readDeployEnvironment } from './stacks/read-environment.ts';

/**
 * The CDK app: `npx cdk synth -c mesh=DIR -c env=NAME`. The defaults are in cdk.json. `-c name=NAME` sets a name for the
 * mesh that differs from its folder, `-c keys=VERSION` sets the version of the gateway's keys.
 */

const app = new App();
const folder = resolve(String(app.node.tryGetContext('mesh') ?? '.'));
const reading = readMesh(folder);
const chosen = readDeployEnvironment(app.node.tryGetContext('environments'), app.node.tryGetContext('env'));

/** Part of all resource names, so it must be valid in each of them. */
const meshName = String(app.node.tryGetContext('name') ?? basename(folder));
const nameCheck: { readonly mistakes?: readonly Mistake[] } = isActorName(meshName)
  ? {}
  : {
      mistakes: [
        {
          place: 'mesh',
          problem: `name is "${meshName}", which is not valid in names of queues and stacks; use a-z, 0-9 and "-", without "-" at the start or end: pass -c name=NAME or rename the folder`,
        },
      ],
    };

const keys: unknown = app.node.tryGetContext('keys');
const mistakes: readonly Mistake[] = [reading, chosen, nameCheck].flatMap((result) =>
  'mistakes' in result ? result.mistakes : [],
);
if (reading.warnings.length > 0) console.error(`asya: warnings\n${indented(reading.warnings)}`);

if ('manifest' in reading && 'environment' in chosen && mistakes.length === 0) {
  const { environment } = chosen;
  try {
    new MeshStack(app, `asya-${namespaceOf(environment.name, meshName)}`, {
      environment,
      meshName,
      manifest: reading.manifest,
      folder,
      ...(keys !== undefined && { keysVersion: String(keys) }),
    });
    app.synth();
  } catch (error) {
    // For a mistake of the operator only the message helps. A bug keeps its stack trace.
    if (!(error instanceof Error && error.message.startsWith('asya:'))) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
} else {
  const count = mistakes.length === 1 ? '1 mistake' : `${mistakes.length} mistakes`;
  console.error(`asya: ${count} in the deployment; nothing was synthesized\n${indented(mistakes)}`);
  process.exitCode = 1;
}

function indented(list: readonly Mistake[]): string {
  return mistakesText(list).replace(/^/gm, '  ');
}
