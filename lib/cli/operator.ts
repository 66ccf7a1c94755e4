import type { Stores } from '../assembly/from-config/crew-from-config.ts';
import { configFromEnvironment } from '../assembly/from-config/read-config.ts';
import { type RunningMesh, runningMeshes } from '../assembly/mesh/running-mesh.ts';
import { queueName } from '../config/settings/queue-name.ts';
import type { SidecarConfig } from '../config/settings/sidecar-config.ts';
import type { Environment } from '../config/settings/variables.ts';
import { defined } from '../core/text/defined.ts';
import { suggestion } from '../core/text/nearest.ts';
import type { Reply } from '../ports/reply.ts';
import type { Transport } from '../ports/transport.ts';
import type { Terminal } from './output/terminal.ts';
import { UsageError } from './usage-error.ts';

/** Whoever looks after a mesh: what is needed to see its failures and to send to its queues. */
export interface Operator {
  readonly config: SidecarConfig;
  readonly stores: Stores;
  /** Opened when it is first needed. */
  transport(): Promise<Transport>;
  /** Whether an actor's queue is there. */
  reach(actor: string): Promise<Reply>;
  send(actor: string, body: string): Promise<Reply>;
  /** Set for a mesh on this machine. */
  readonly mesh?: RunningMesh;
  close(): Promise<void>;
}

/** Lets the operator go again whatever becomes of the work. */
export async function withOperator(
  { env, cwd }: Terminal,
  { mesh }: { readonly mesh?: string },
  work: (operator: Operator) => Promise<number>,
): Promise<number> {
  const operator = await operatorFrom(env, cwd, mesh);
  try {
    return await work(operator);
  } finally {
    await operator.close();
  }
}

/**
 * By the environment where it names a table, as the functions themselves are told; otherwise the mesh that runs on this
 * machine.
 */
async function operatorFrom(env: Environment, cwd: string, meshName?: string): Promise<Operator> {
  const isNamed = Boolean(env['ASYA_FAILURE_TABLE']) && meshName === undefined;
  const mesh = isNamed ? undefined : meshRunningHere(cwd, meshName);
  // The operator's tools read what the crew reads; a mesh of this machine is reached by what it says alone.
  const variables = mesh === undefined ? env : { ...withoutOurs(env), ...mesh.variables };
  const reading = configFromEnvironment({ ASYA_ACTOR_NAME: 'x-sump', ...variables });
  if ('message' in reading) throw new UsageError(reading.message);
  const { config } = reading;
  const stores = await openStores(config, env);
  let opened: Promise<Transport> | undefined;
  const transport = () => {
    opened ??= openTransport(config, env);
    return opened;
  };
  return {
    config,
    stores,
    transport,
    reach: async (actor) => (await transport()).reach(queueName(actor, config.namespace)),
    send: async (actor, body) => (await transport()).send(queueName(actor, config.namespace), body),
    ...defined({ mesh }),
    close: async () => {
      stores.close();
      await (await opened?.catch(() => undefined))?.close();
    },
  };
}

/** The clients take their time to load: only where they are used. */
async function openStores({ storage, sqs }: SidecarConfig, env: Environment): Promise<Stores> {
  const { storesFromConfig } = await import('../assembly/from-config/crew-from-config.ts');
  try {
    return storesFromConfig(storage, sqs.region, env);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function withoutOurs(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('ASYA_')));
}

async function openTransport(config: SidecarConfig, env: Environment): Promise<Transport> {
  const { transportFromConfig } = await import('../assembly/from-config/transport-from-config.ts');
  try {
    return await transportFromConfig(config, env);
  } catch (error) {
    throw new UsageError(`asya: ${(error as Error).message}`);
  }
}

/** The one that runs here; where several do, the one that was named. */
function meshRunningHere(cwd: string, meshName: string | undefined): RunningMesh {
  const meshes = runningMeshes(cwd);
  const names = meshes.map(({ name }) => name);
  const [first, ...others] = meshName === undefined ? meshes : meshes.filter(({ name }) => name === meshName);
  if (first !== undefined && others.length === 0) return first;
  if (first !== undefined) {
    throw new UsageError(
      `asya: ${names.length} meshes run here: ${names.join(', ')}; say which with --mesh NAME`,
    );
  }
  throw new UsageError(
    meshName === undefined || names.length === 0
      ? 'asya: no mesh runs here; start one with `npx asya dev`, or set ASYA_FAILURE_TABLE and ASYA_ARCHIVE_BUCKET to look at one on AWS'
      : `asya: no mesh "${meshName}" runs here${suggestion(meshName, names)}`,
  );
}
