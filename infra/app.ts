import { basename, resolve } from 'node:path';
import { App } from 'aws-cdk-lib';
import { readMesh } from '../lib/assembly/read-mesh.ts';
import { type Mistake, mistakesText } from '../lib/core/mistake.ts';
import { readDeployEnvironment } from './read-environment.ts';
import { MeshStack, namespaceOf } from './stacks/mesh-stack.ts';

/** The CDK app: `npx cdk synth -c mesh=DIR -c env=NAME`. Defaults stand in cdk.json. */

const app = new App();
const folder = resolve(String(app.node.tryGetContext('mesh') ?? '.'));
const reading = readMesh(folder);
const chosen = readDeployEnvironment(app.node.tryGetContext('environments'), app.node.tryGetContext('env'));

const mistakes: readonly Mistake[] = [reading, chosen].flatMap((one) =>
  'mistakes' in one ? one.mistakes : [],
);
if (reading.warnings.length > 0) console.error(`asya: worth a look\n${indented(reading.warnings)}`);

if ('manifest' in reading && 'environment' in chosen) {
  const { environment } = chosen;
  const meshName = basename(folder);
  try {
    new MeshStack(app, `asya-${namespaceOf(environment.name, meshName)}`, {
      environment,
      meshName,
      manifest: reading.manifest,
      folder,
    });
    app.synth();
  } catch (error) {
    // An operator's mistake is told in words; where it was found in our code helps nobody.
    console.error((error as Error).message);
    process.exitCode = 1;
  }
} else {
  console.error(`asya: nothing is deployed\n${indented(mistakes)}`);
  process.exitCode = 1;
}

function indented(some: readonly Mistake[]): string {
  return mistakesText(some).replace(/^/gm, '  ');
}
