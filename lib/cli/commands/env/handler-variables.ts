import { localSecrets, missingSecretsText, readEnvFile } from '../../../assembly/mesh/local-secrets.ts';
import type { ActorSpec, Manifest } from '../../../config/manifest/manifest.ts';
import { type ActorPlan, isActorPlan } from '../../../config/plan/function-plan.ts';
import { lambdaEnvironment } from '../../../config/plan/lambda-environment.ts';
import { planMesh } from '../../../config/plan/mesh-plan.ts';
import { runtimeAddress } from '../../../config/settings/addresses.ts';
import { handlerEnvironment, isRemoved } from '../../../config/settings/handler-environment.ts';
import { secretDescription } from '../../../config/settings/secret-reference.ts';
import type { Environment } from '../../../config/settings/variables.ts';
import { writeEnvironment } from '../../../config/settings/write-environment.ts';
import { LOCAL_REGION } from '../../../local/engines/engines.ts';
import { functionEnvironment, INHERITED } from '../../../local/functions/function-environment.ts';
import { variablesOf } from '../../../local/mesh/actor-runner.ts';
import { runtimeCommand } from '../../../local/mesh/runtime-command.ts';
import { CLOUD_RUN_VARIABLES, LAMBDA_VARIABLES } from './host-variables.ts';

export const HOSTS = ['local', 'lambda', 'worker', 'cloud-run'] as const;
export type HostName = (typeof HOSTS)[number];

export interface HandlerVariable {
  readonly name: string;
  /** `manifest`, `.env`, `shell`, `mesh`, the host, or the description of a secret. */
  readonly source: string;
  /** Set for variables of the manifest and the shell. Values of secrets are never shown. */
  readonly value?: string;
}

export interface HandlerVariables {
  readonly variables: readonly HandlerVariable[];
  /** Variables of the sidecar that the handler does not get. */
  readonly removed: readonly string[];
  readonly notes: readonly string[];
}

interface Input {
  readonly manifest: Manifest;
  readonly spec: ActorSpec;
  readonly folder: string;
  readonly host: HostName;
  readonly shell: Environment;
}

/** Stands for values that only a running mesh or host knows. */
const UNKNOWN = 'http://127.0.0.1';

/** The variables of a handler: the sidecar's environment as its host sets it, passed through `handlerEnvironment`. */
export function handlerVariables(input: Input): HandlerVariables {
  const { spec, host } = input;
  if (spec.runtime.kind === 'url')
    return {
      variables: [],
      removed: [],
      notes: [`its runtime runs at ${spec.runtime.url}, which has its own environment`],
    };
  const plan = planOf(input);
  const own = host === 'local' ? localOwn(input, plan) : deployedOwn(input, plan);
  const { passEnv, address, protocol } = plan.config.runtime;
  const environment = handlerEnvironment({
    own,
    passed: passEnv,
    secrets:
      host === 'local' ? {} : Object.fromEntries(Object.keys(spec.secrets ?? {}).map((name) => [name, ''])),
    mesh: { ASYA_RUNTIME_URL: runtimeAddress.write(address), ASYA_RUNTIME_PROTOCOL: protocol },
  });
  return {
    variables: Object.entries(environment)
      .map(([name, value]) => described(name, value, input))
      .toSorted(bySource),
    removed: Object.keys(own)
      .filter((name) => isRemoved(name, passEnv))
      .toSorted(),
    notes: notesFor(input),
  };
}

function planOf({ manifest, spec, host }: Input): ActorPlan {
  const settings = {
    region: LOCAL_REGION,
    storage: {},
    gateway: { url: UNKNOWN, secret: '-'.repeat(32) },
    ...(host === 'local'
      ? { broker: { ASYA_TRANSPORT: 'sqs', ASYA_SQS_ENDPOINT: UNKNOWN } }
      : { namespace: 'mesh' }),
  };
  const plan = planMesh(manifest, settings).functions.find(({ actor }) => actor === spec.name);
  if (plan === undefined || !isActorPlan(plan)) throw new Error(`the plan has no actor "${spec.name}"`);
  return plan;
}

function localOwn({ spec, folder, shell }: Input, plan: ActorPlan): Environment {
  const how = runtimeCommand(spec.runtime, 'python3');
  const { values } = localSecrets(spec, readEnvFile(folder), shell);
  const variables = variablesOf(
    { plan, socketFolder: '/tmp', secrets: () => values, ...('command' in how ? how : {}) },
    1,
  );
  return functionEnvironment({ name: plan.actor, memoryMb: plan.memoryMb }, variables, shell);
}

/** On a worker and on Cloud Run, the container's environment contains what Lambda's function does. */
function deployedOwn({ host }: Input, plan: ActorPlan): Environment {
  if (host === 'lambda') return { ...named(LAMBDA_VARIABLES), ...lambdaEnvironment(plan).variables };
  const { variables } = writeEnvironment({
    ...plan.config,
    runtime: { ...plan.config.runtime, command: '-' },
  });
  return { ...named(host === 'cloud-run' ? CLOUD_RUN_VARIABLES : []), ...plan.environment, ...variables };
}

const named = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, '']));

function described(name: string, value: string, { spec, folder, host, shell }: Input): HandlerVariable {
  const secret = spec.secrets?.[name];
  if (secret !== undefined && host !== 'local') return { name, source: secretDescription(secret.reference) };
  if (secret !== undefined) {
    const { foundIn } = localSecrets(spec, readEnvFile(folder), shell);
    return { name, source: `secret, from ${foundIn[name]}` };
  }
  if (Object.hasOwn(spec.environment, name)) return { name, source: 'manifest', value };
  if (host === 'local' && (name === 'PATH' || (INHERITED.includes(name) && shell[name] !== undefined)))
    return { name, source: 'shell', value };
  if (host === 'lambda' && LAMBDA_VARIABLES.includes(name)) return { name, source: 'Lambda' };
  if (host === 'cloud-run' && CLOUD_RUN_VARIABLES.includes(name)) return { name, source: 'Cloud Run' };
  return { name, source: 'mesh' };
}

/** What the user declares comes first, what the mesh sets last. */
const ORDER = ['manifest', 'secret', 'parameter', 'shell', 'Lambda', 'Cloud', 'mesh'];

function bySource(a: HandlerVariable, b: HandlerVariable): number {
  const rank = ({ source }: HandlerVariable) => ORDER.findIndex((word) => source.startsWith(word));
  return rank(a) - rank(b) || (a.name < b.name ? -1 : 1);
}

function notesFor({ spec, folder, host, shell }: Input): readonly string[] {
  if (host === 'lambda') return [];
  if (host !== 'local')
    return [
      "The handler also gets every other variable of the sidecar's process, without credentials. Set the variables of the manifest on the container.",
    ];
  const missing = missingSecretsText(spec, localSecrets(spec, readEnvFile(folder), shell), folder);
  return [
    'No other variable of the shell reaches the handler: declare it under environment or secrets.',
    ...(missing === undefined ? [] : [missing]),
  ];
}
