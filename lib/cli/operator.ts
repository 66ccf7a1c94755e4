import type { Stores } from '../assembly/from-config/crew-from-config.ts';
import { configFromEnvironment } from '../assembly/from-config/read-config.ts';
import { type RunningMesh, runningMeshes } from '../assembly/mesh/running-mesh.ts';
import type { OperatorConfig } from '../config/settings/host-config.ts';
import { queueName } from '../config/settings/queue-name.ts';
import { readOperatorConfig } from '../config/settings/read-host-config.ts';
import type { Environment } from '../config/settings/variables.ts';
import { defined } from '../core/text/defined.ts';
import { suggestion } from '../core/text/nearest.ts';
import type { Reply } from '../ports/reply.ts';
import type { Transport } from '../ports/transport.ts';
import type { Terminal } from './output/terminal.ts';
import { UsageError } from './usage-error.ts';

/** Access to a mesh for the commands that operate it: its failures, and its queues. */
export interface Operator {
  readonly config: OperatorConfig;
  readonly stores: Stores;
  /** Opened on first use. */
  transport(): Promise<Transport>;
  /** Checks that an actor's queue exists. */
  checkQueue(actor: string): Promise<Reply>;
  send(actor: string, body: string): Promise<Reply>;
  /** Set if the mesh runs on this machine. */
  readonly mesh?: RunningMesh;
  close(): Promise<void>;
}

/** Runs `work` with an operator, and closes it afterwards, also after an error. */
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
 * If ASYA_FAILURE_TABLE is set and no mesh is named, the mesh of the environment variables. Otherwise a mesh on this
 * machine.
 */
async function operatorFrom(env: Environment, cwd: string, meshName?: string): Promise<Operator> {
  const usesEnvironment = Boolean(env['ASYA_FAILURE_TABLE']) && meshName === undefined;
  const mesh = usesEnvironment ? undefined : findLocalMesh(cwd, meshName);
  // Configured like the crew. For a mesh on this machine only its own ASYA_ variables count.
  const variables = mesh === undefined ? env : { ...withoutAsyaVariables(env), ...mesh.variables };
  const reading = configFromEnvironment(readOperatorConfig, { ASYA_ACTOR_NAME: 'x-sump', ...variables });
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
    checkQueue: async (actor) => (await transport()).checkQueue(queueName(actor, config.namespace)),
    send: async (actor, body) => (await transport()).send(queueName(actor, config.namespace), body),
    ...defined({ mesh }),
    close: async () => {
      stores.close();
      await (await opened?.catch(() => undefined))?.close();
    },
  };
}

/** Imported on use, because the AWS clients are slow to load. */
async function openStores({ storage, sqs }: OperatorConfig, env: Environment): Promise<Stores> {
  const { storesFromConfig } = await import('../assembly/from-config/crew-from-config.ts');
  try {
    return storesFromConfig(storage, sqs.region, env);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function withoutAsyaVariables(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('ASYA_')));
}

async function openTransport(config: OperatorConfig, env: Environment): Promise<Transport> {
  const { transportFromConfig } = await import('../assembly/from-config/transport-from-config.ts');
  try {
    return await transportFromConfig(config, env);
  } catch (error) {
    throw new UsageError(`asya: ${(error as Error).message}`);
  }
}

/** The mesh with this name, or the only one that runs on this machine. */
function findLocalMesh(cwd: string, meshName: string | undefined): RunningMesh {
  const meshes = runningMeshes(cwd);
  const names = meshes.map(({ name }) => name);
  const [first, ...others] = meshName === undefined ? meshes : meshes.filter(({ name }) => name === meshName);
  if (first !== undefined && others.length === 0) return first;
  if (first !== undefined) {
    throw new UsageError(
      `asya: ${names.length} meshes are running in this folder: ${names.join(', ')}; choose one with --mesh NAME`,
    );
  }
  throw new UsageError(
    meshName === undefined || names.length === 0
      ? 'asya: no mesh is running in this folder; start one with `npx asya dev`, or set ASYA_FAILURE_TABLE and ASYA_ARCHIVE_BUCKET to use one on AWS'
      : `asya: no mesh "${meshName}" is running in this folder${suggestion(meshName, names)}`,
  );
}
