import { localSecrets, missingSecretsText, readEnvFile } from '../../../assembly/mesh/local-secrets.ts';
import { bucketVariable, hasPermissions } from '../../../config/manifest/access.ts';
import type { ActorSpec, Manifest } from '../../../config/manifest/manifest.ts';
import { type ActorPlan, isActorPlan } from '../../../config/plan/function-plan.ts';
import { lambdaEnvironment } from '../../../config/plan/lambda-environment.ts';
import { planMesh } from '../../../config/plan/mesh-plan.ts';
import { FD_VARIABLES } from '../../../config/settings/bundled-runtime.ts';
import { isSidecarCredential } from '../../../config/settings/cloud-credentials.ts';
import { CREDENTIALS_SERVER_VARIABLES, isRemoved } from '../../../config/settings/handler-environment.ts';
import { runtimeEnvironment } from '../../../config/settings/runtime-environment.ts';
import { secretDescription } from '../../../config/settings/secret-reference.ts';
import type { Environment } from '../../../config/settings/variables.ts';
import { writeEnvironment } from '../../../config/settings/write-environment.ts';
import { defined } from '../../../core/text/defined.ts';
import { LOCAL_REGION } from '../../../local/engines/engines.ts';
import { functionEnvironment, INHERITED } from '../../../local/functions/function-environment.ts';
import { variablesOf } from '../../../local/mesh/actor-runner.ts';
import { findPython } from '../../../local/mesh/find-python.ts';
import { localHandlerAccess } from '../../../local/mesh/handler-access.ts';
import { pythonFolders, pythonText } from '../../../local/mesh/mesh-pythons.ts';
import { runtimeCommand } from '../../../local/mesh/runtime-command.ts';
import { CLOUD_RUN_VARIABLES, LAMBDA_VARIABLES, SET_AT_START } from './host-variables.ts';

export const HOSTS = ['local', 'lambda', 'worker', 'cloud-run'] as const;
export type HostName = (typeof HOSTS)[number];

export interface HandlerVariable {
  readonly name: string;
  /** Where the value comes from. `missing`: a secret without a value, for which the actor waits. */
  readonly origin: Origin;
  /** The same in more detail, for a secret: which one of the store. */
  readonly source: string;
  /** Set for variables of the manifest and the shell. Values of secrets are never shown. */
  readonly value?: string;
}

/** What the user declares comes first, what the mesh sets last. */
const ORIGINS = [
  'manifest',
  'Secrets Manager',
  'Systems Manager',
  '.env',
  'missing',
  'shell',
  'Lambda',
  'Cloud Run',
  'mesh',
] as const;
type Origin = (typeof ORIGINS)[number];

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
  /** Where the local mesh was or would be started. */
  readonly startFolder: string;
  readonly host: HostName;
  readonly shell: Environment;
}

/** Shown for values that only a running mesh or host knows. */
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
  const own = {
    ...(host === 'local' ? localOwn(input, plan) : deployedOwn(input, plan)),
    ...named(SET_AT_START[host] ?? []),
  };
  const { runtime } = plan.config;
  const environment = runtimeEnvironment(runtime, own, {
    region: LOCAL_REGION,
    ...accessOf(input),
    secrets:
      host === 'local' ? {} : Object.fromEntries(Object.keys(spec.secrets ?? {}).map((name) => [name, ''])),
  });
  const given = Object.entries(environment)
    .filter(([name]) => !FD_VARIABLES.includes(name))
    .map(([name, value]) => described(name, value, input));
  return {
    variables: [...given, ...missingOf(input)].toSorted(byOrigin),
    removed: Object.keys(own)
      .filter((name) => isRemoved(name, runtime.passEnv) && !Object.hasOwn(environment, name))
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
      ? { broker: { ASYA_TRANSPORT: 'sqs', ASYA_SQS_ENDPOINT: UNKNOWN, ASYA_SQS_CLIENT: 'sdk' } }
      : { namespace: 'mesh' }),
  };
  const plan = planMesh(manifest, settings).functions.find(({ actor }) => actor === spec.name);
  if (plan === undefined || !isActorPlan(plan)) throw new Error(`the plan has no actor "${spec.name}"`);
  return plan;
}

function localOwn(input: Input, plan: ActorPlan): Environment {
  const { spec, shell } = input;
  const how = runtimeCommand(spec.runtime, { python: 'python3', version: '' });
  const { values } = secretsOf(input);
  const variables = variablesOf({ plan, secrets: () => values, ...('command' in how ? how : {}) });
  return functionEnvironment({ name: plan.actor, memoryMb: plan.memoryMb }, variables, shell);
}

/** How the handler reaches AWS: with the credentials of its own role, or locally as the manifest says. */
function accessOf({ spec, host, shell }: Input) {
  if (spec.access === undefined || !hasPermissions(spec.access)) return {};
  if (host === 'local') return defined({ set: localHandlerAccess(spec.access, UNKNOWN, shell).env });
  return { credentials: named(CREDENTIALS_SERVER_VARIABLES) };
}

/** On a worker and on Cloud Run, the container's environment contains what Lambda's function does. */
function deployedOwn({ host }: Input, plan: ActorPlan): Environment {
  if (host === 'lambda') {
    const buckets = named((plan.access?.buckets ?? []).map(bucketVariable));
    return { ...named(LAMBDA_VARIABLES), ...lambdaEnvironment(plan).variables, ...buckets };
  }
  const { variables } = writeEnvironment({
    ...plan.config,
    runtime: { ...plan.config.runtime, command: '-' },
  });
  return { ...named(host === 'cloud-run' ? CLOUD_RUN_VARIABLES : []), ...plan.environment, ...variables };
}

const named = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, '']));

function described(name: string, value: string, input: Input): HandlerVariable {
  const { spec, host, shell } = input;
  const secret = spec.secrets?.[name];
  if (secret !== undefined && host !== 'local') {
    const origin = 'ssm' in secret.reference ? 'Systems Manager' : 'Secrets Manager';
    return { name, origin, source: secretDescription(secret.reference) };
  }
  if (secret !== undefined) {
    const origin = secretsOf(input).foundIn[name] ?? 'shell';
    return { name, origin, source: `secret, from ${origin}` };
  }
  const origin = originOf(name, input);
  const isPublic = origin === 'manifest' || (origin === 'shell' && shell[name] !== undefined);
  const isShown = isPublic && !isSidecarCredential(name);
  return { name, origin, source: origin, ...(isShown && { value }) };
}

function originOf(name: string, { spec, host, shell }: Input): Origin {
  if (Object.hasOwn(spec.environment, name)) return 'manifest';
  const isInherited =
    name === 'PATH' ||
    isFromShell(name, spec, shell) ||
    (INHERITED.includes(name) && shell[name] !== undefined);
  if (host === 'local' && isInherited) return 'shell';
  if (host === 'lambda' && LAMBDA_VARIABLES.includes(name)) return 'Lambda';
  if (host === 'cloud-run' && CLOUD_RUN_VARIABLES.includes(name)) return 'Cloud Run';
  return 'mesh';
}

/** A handler with permissions that uses the developer's profile gets the shell's variables of AWS and its buckets. */
function isFromShell(name: string, { access }: ActorSpec, shell: Environment): boolean {
  if (access === undefined || access.localAws === 'embedded' || shell[name] === undefined) return false;
  return localHandlerAccess(access, UNKNOWN, shell).env?.[name] === shell[name];
}

/** Secrets that have no value on this machine. Whether a deployed one exists is not known here. */
function missingOf(input: Input): readonly HandlerVariable[] {
  if (input.host !== 'local') return [];
  return secretsOf(input).missing.map(({ variable: name }) => ({
    name,
    origin: 'missing',
    source: 'secret, missing',
  }));
}

function secretsOf({ spec, folder, shell }: Input) {
  return localSecrets(spec, readEnvFile(folder), shell);
}

function byOrigin(a: HandlerVariable, b: HandlerVariable): number {
  const rank = ({ origin }: HandlerVariable) => ORIGINS.indexOf(origin);
  return rank(a) - rank(b) || (a.name < b.name ? -1 : 1);
}

function notesFor(input: Input): readonly string[] {
  const { spec, folder, host } = input;
  if (host === 'lambda') return [];
  if (host !== 'local')
    return [
      `On ${host} the handler also gets every other variable of the sidecar's process, without credentials.`,
    ];
  const missing = missingSecretsText(spec, secretsOf(input), folder);
  return [
    ...pythonNotes(input),
    'Locally, no other variable of the shell reaches the handler: declare it under environment or secrets.',
    ...(missing === undefined ? [] : [missing]),
  ];
}

function pythonNotes({ spec, folder, startFolder, shell }: Input): readonly string[] {
  if (spec.runtime.kind !== 'python') return [];
  const found = findPython(pythonFolders(spec, folder, startFolder), shell);
  return 'problem' in found
    ? [`Locally, the handler cannot run: ${found.problem}.`]
    : [`Locally, the handler runs with ${pythonText(found, folder, shell)}.`];
}
