import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleFunction } from '../../infra/code/bundle.ts';
import { LAMBDA, type Programs } from './execution-environment.ts';
import type { DeployedFunction } from './function-process.ts';
import { pythonWithBoto3 } from './python.ts';

const ROOT = join(import.meta.dirname, '../..');
/** The queue of the next actor. */
export const STORE = 'asya-dev-bench-store';

/** Handlers without a sidecar: bundled like the sidecar, with the URL of the next queue in their environment. */
export function deployPeers(folder: string, programs: Programs, sqs: string): readonly DeployedFunction[] {
  const environment = {
    ...LAMBDA,
    PATH: programs.path,
    POWERTOOLS_SERVICE_NAME: 'bench',
    AWS_ENDPOINT_URL_SQS: sqs,
    NEXT_QUEUE_URL: `${sqs}/000000000000/${STORE}`,
  };
  const inFolder = (name: string) => {
    const target = join(folder, name);
    mkdirSync(target);
    return { name, actor: 'score', folder: target, environment };
  };
  const inNode = (name: string): DeployedFunction => {
    const peer = inFolder(name);
    const text = bundleFunction(join(import.meta.dirname, `peers/${name}-handler.ts`), ROOT);
    writeFileSync(join(peer.folder, 'index.js'), text);
    return { ...peer, handler: 'index.handler', runtime: programs.nodeRuntime };
  };
  const inPython = (interpreter: string): DeployedFunction => {
    const peer = inFolder('plain-python');
    for (const file of ['peers/plain_handler.py', 'mesh/scoring.py'])
      copyFileSync(join(import.meta.dirname, file), join(peer.folder, file.replace(/.*\//, '')));
    return {
      ...peer,
      handler: 'plain_handler.handler',
      runtime: [interpreter, join(import.meta.dirname, 'bootstrap.py')],
    };
  };
  const python = pythonWithBoto3();
  return [inNode('plain'), inNode('powertools'), ...(python === undefined ? [] : [inPython(python)])];
}
