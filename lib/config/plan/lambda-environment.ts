import { metricsService } from '../../core/delivery/metric-name.ts';
import { NO_RESILIENCY } from '../../core/policy/policy.ts';
import { fileOfHandler, languageOf } from '../manifest/handler-name.ts';
import type { RuntimeSpec } from '../manifest/manifest.ts';
import { commandOf } from '../settings/shell-command.ts';
import { type WrittenEnvironment, writeEnvironment } from '../settings/write-environment.ts';
import { type FunctionPlan, isActorPlan } from './function-plan.ts';

/**
 * The files in the code of an actor's function. Bundling uses these names, and so does the function's environment. A
 * zip runs in the folder of these files. A user's image runs in its own working folder; our files are in Lambda's.
 */
export const IN_FUNCTION = {
  sidecar: 'index.js',
  resiliency: 'resiliency.json',
  /** A Node handler, bundled as CommonJS, or what loads the other file. */
  handler: 'handler.cjs',
  /** A Node handler, bundled as an ES module, if it needs one. */
  handlerModule: 'handler.mjs',
  nodeRuntime: 'runtime/asya-runtime.cjs',
  pythonRuntime: 'asya_runtime.py',
  /** Starts the Python runtime from its bytecode. */
  pythonStart: 'asya_start.py',
  /** The whole folder of a Python handler. */
  app: 'app',
  imageFolder: '/var/task',
} as const;

/** The Python that is installed into the image, by its name on Amazon Linux. */
export const PYTHON_OF_IMAGE = 'python3.12';

/** Lambda's limit for the environment: all names and values together. */
export const MAX_ENVIRONMENT_BYTES = 4096;

/**
 * The environment of a planned function on Lambda, with its policies in a file. Lambda sets the region
 * itself. The `service` dimension of metrics is the mesh, which separates two meshes in one account.
 */
export function lambdaEnvironment(plan: FunctionPlan): WrittenEnvironment {
  const { config, environment, runtime } = plan;
  const command = runtime === undefined ? undefined : commandOnLambda(runtime);
  const folder = runtime?.kind === 'image' ? `${IN_FUNCTION.imageFolder}/` : '';
  const resiliency = isActorPlan(plan) ? plan.config.actor.resiliency : NO_RESILIENCY;
  const hasPolicies = resiliency.policies.size > 0 || resiliency.rules.length > 0;
  const { variables, ...file } = writeEnvironment(
    command === undefined ? config : { ...config, runtime: { ...config.runtime, command } },
    hasPolicies ? `${folder}${IN_FUNCTION.resiliency}` : undefined,
  );
  const { ASYA_AWS_REGION: _region, ...written } = variables;
  return {
    ...file,
    variables: { ...environment, ...written, POWERTOOLS_SERVICE_NAME: metricsService(config.namespace) },
  };
}

/** Undefined if the runtime runs elsewhere and is not started. */
function commandOnLambda(runtime: RuntimeSpec): string | undefined {
  const { imageFolder, nodeRuntime, pythonStart, app } = IN_FUNCTION;
  switch (runtime.kind) {
    case 'url':
      return undefined;
    case 'node':
      return commandOf('node', nodeRuntime, `./${bundledHandler(runtime.handler)}`);
    case 'python':
      return `cd ${app} && ${commandOf(PYTHON_OF_IMAGE, `../${pythonStart}`, runtime.handler)}`;
    case 'image': {
      const { handler = '' } = runtime;
      return languageOf(handler) === 'node'
        ? commandOf('/var/lang/bin/node', `${imageFolder}/${nodeRuntime}`, `./${handler}`)
        : commandOf('python3', `${imageFolder}/${pythonStart}`, handler);
    }
  }
}

/** `score.ts.Scorer.score` becomes `handler.cjs.Scorer.score`, whatever the folder of the file. */
function bundledHandler(handler: string): string {
  return `${IN_FUNCTION.handler}${handler.slice(fileOfHandler(handler)?.length ?? 0)}`;
}

/** The size as Lambda counts it: the length of the JSON, with quotes and escapes. */
export function environmentBytes(variables: Readonly<Record<string, string>>): number {
  return new TextEncoder().encode(JSON.stringify(variables)).length;
}
