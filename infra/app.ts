import { basename, resolve } from 'node:path';
import { App } from 'aws-cdk-lib';
import { readMesh } from '../lib/assembly/mesh/read-mesh.ts';
import { isActorName } from '../lib/core/envelope/actor-name.ts';
import { type Mistake, mistakesText } from '../lib/core/text/mistake.ts';
import { MeshStack, namespaceOf } from './stacks/mesh-stack.ts';
import { readDeployEnvironment } from './stacks/read-environment.ts';

/**
 * The CDK app: `npx cdk synth -c mesh=DIR -c env=NAME`. Defaults stand in cdk.json; `-c name=NAME` calls the mesh
 * otherwise than its folder, `-c keys=VERSION` lets the gateway read its keys again.
 */

const app = new App();
const folder = resolve(String(app.node.tryGetContext('mesh') ?? '.'));
const reading = readMesh(folder);
const chosen = readDeployEnvironment(app.node.tryGetContext('environments'), app.node.tryGetContext('env'));

/** A part of every name, so it is held to what all of them take. */
const meshName = String(app.node.tryGetContext('name') ?? basename(folder));
const named: { readonly mistakes?: readonly Mistake[] } = isActorName(meshName)
  ? {}
  : {
      mistakes: [
        {
          place: 'mesh',
          problem: `would be called "${meshName}", as its folder is; names of queues and stacks are made of it, with a-z, 0-9 and "-": say another by -c name=NAME`,
        },
      ],
    };

const keys: unknown = app.node.tryGetContext('keys');
const mistakes: readonly Mistake[] = [reading, chosen, named].flatMap((one) =>
  'mistakes' in one ? one.mistakes : [],
);
if (reading.warnings.length > 0) console.error(`asya: worth a look\n${indented(reading.warnings)}`);

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
    // An operator's mistake is told in words; where it was found in our code helps nobody. A bug keeps its stack.
    if (!(error instanceof Error && error.message.startsWith('asya:'))) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
} else {
  console.error(`asya: nothing is deployed\n${indented(mistakes)}`);
  process.exitCode = 1;
}

function indented(some: readonly Mistake[]): string {
  return mistakesText(some).replace(/^/gm, '  ');
}
