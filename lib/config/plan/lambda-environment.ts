import { NO_RESILIENCY } from '../../core/policy/policy.ts';
import { fileOfHandler, languageOf } from '../manifest/handler-name.ts';
import type { RuntimeSpec } from '../manifest/manifest.ts';
import { commandOf } from '../settings/shell-command.ts';
import { type WrittenEnvironment, writeEnvironment } from '../settings/write-environment.ts';
import { type FunctionPlan, isActorPlan } from './function-plan.ts';

/**
 * What lies beside each other in the code of an actor's function: bundled under these names, and named so in its
 * environment. A zip is worked in where it lies; a user's own image is
 * worked in where its handler lies, and ours lies where Lambda looks for code.
 */
export const IN_FUNCTION = {
  sidecar: 'index.js',
  resiliency: 'resiliency.json',
  /** A Node handler, bundled. */
  handler: 'handler.mjs',
  nodeRuntime: 'runtime/asya-runtime.ts',
  pythonRuntime: 'asya_runtime.py',
  /** A Python handler's whole folder. */
  app: 'app',
  imageFolder: '/var/task',
} as const;

/** As Amazon Linux calls it: the one that is installed into the image. */
export const PYTHON_OF_IMAGE = 'python3.12';

/** Lambda's environment, all names and values together. */
export const MAX_ENVIRONMENT_BYTES = 4096;

/**
 * The environment of a planned function on Lambda, with its policies in a file. The region is left to Lambda, which
 * says it anyway. The metrics' `service` is the mesh, so that two of them in one account are told apart.
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
  const { ASYA_AWS_REGION: _region, ...told } = variables;
  return {
    ...file,
    variables: { ...environment, ...told, POWERTOOLS_SERVICE_NAME: config.namespace ?? 'asya' },
  };
}

/** Undefined where nothing is started: a runtime elsewhere. */
function commandOnLambda(runtime: RuntimeSpec): string | undefined {
  const { imageFolder, nodeRuntime, pythonRuntime, app } = IN_FUNCTION;
  switch (runtime.kind) {
    case 'url':
      return undefined;
    case 'node':
      return commandOf('node', nodeRuntime, `./${bundledHandler(runtime.handler)}`);
    case 'python':
      return `cd ${app} && ${commandOf(PYTHON_OF_IMAGE, `../${pythonRuntime}`, runtime.handler)}`;
    case 'image': {
      const { handler = '' } = runtime;
      return languageOf(handler) === 'node'
        ? commandOf('/var/lang/bin/node', `${imageFolder}/${nodeRuntime}`, `./${handler}`)
        : commandOf('python3', `${imageFolder}/${pythonRuntime}`, handler);
    }
  }
}

/** `score.ts.Scorer.score` is `handler.mjs.Scorer.score`, wherever its file stood. */
function bundledHandler(handler: string): string {
  return `${IN_FUNCTION.handler}${handler.slice(fileOfHandler(handler)?.length ?? 0)}`;
}

/** As Lambda measures it: the JSON of all of it, with its quotes and what has to be escaped. */
export function environmentBytes(variables: Readonly<Record<string, string>>): number {
  return new TextEncoder().encode(JSON.stringify(variables)).length;
}
