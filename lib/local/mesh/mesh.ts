import { GATEWAY } from '../../config/plan/gateway-plan.ts';
import type { Flow } from '../../core/task/flow.ts';
import { defined } from '../../core/text/defined.ts';
import type { Inspection } from '../debugger/inspection.ts';
import { type Engines, startEngines } from '../engines/engines.ts';
import { ensureStores } from '../engines/local-stores.ts';
import { type DebugFolder, openDebugFolder, removeLeftDebugFolder } from './debug-folder.ts';
import { type LocalGateway, startLocalGateway } from './local-gateway.ts';
import type { LocalMesh, MeshOptions } from './local-mesh.ts';
import { meshOn } from './mesh-actors.ts';
import type { MeshBroker } from './mesh-broker.ts';
import { openInspections } from './mesh-inspections.ts';
import { meshPythons } from './mesh-pythons.ts';
import { startPubsubBroker } from './pubsub-broker.ts';
import { sqsBroker } from './sqs-broker.ts';
import { storeVariables } from './store-variables.ts';
export async function startMesh(options: MeshOptions): Promise<{ mesh: LocalMesh } | { problem: string }> {
  const { dataDir, sqsPort, dynamodbPort } = options;
  const started = await startEngines(defined({ dataDir, sqsPort, dynamodbPort }));
  if ('problem' in started) return started;
  const { engines } = started;
  const opened = await openBroker(engines, options);
  if ('problem' in opened) {
    await engines.close();
    return opened;
  }
  const { broker } = opened;
  let mesh: LocalMesh | undefined;
  let gateway: LocalGateway | undefined;
  let debugFolder: DebugFolder | undefined;
  const closeAll = async () => {
    debugFolder?.remove();
    await gateway?.close();
    await broker.close();
    await engines.close();
  };
  try {
    await ensureStores(engines);
    const flows = () => mesh?.manifest().flows ?? [];
    const opening = await openGateway(engines, broker, options, flows);
    if (opening !== undefined && 'problem' in opening) {
      await closeAll();
      return opening;
    }
    gateway = opening?.gateway;
    if (dataDir !== undefined) removeLeftDebugFolder(dataDir);
    const { folder, startFolder = folder, shell = process.env, inspect = [] } = options;
    const pythons = meshPythons(folder, startFolder, shell);
    let inspections: ReadonlyMap<string, Inspection> = new Map();
    if (inspect.length > 0) {
      debugFolder = openDebugFolder(dataDir);
      const inspecting = await openInspections({
        manifest: options.manifest,
        inspect,
        folder: debugFolder.path,
        python: pythons.of,
        onChange: (actor, isAttached) => options.onEvent({ event: 'debugger', actor, isAttached }),
      });
      if ('problem' in inspecting) {
        await closeAll();
        return inspecting;
      }
      inspections = inspecting.inspections;
    }
    mesh = meshOn({ engines, broker, gateway, debugFolder, pythons, inspections }, options);
    await mesh.apply(options.manifest);
    if (broker.gatewayWorksTimers) gateway?.workTimers();
    return { mesh };
  } catch (error) {
    // Stop everything that was started before the error.
    await (mesh === undefined ? closeAll() : mesh.close(0));
    throw error;
  }
}

async function openBroker(
  { sqsEndpoint }: Engines,
  { transport = 'sqs', dataDir, logLevel = 'info', onEvent }: MeshOptions,
): Promise<{ broker: MeshBroker } | { problem: string }> {
  if (transport === 'sqs') return { broker: sqsBroker(sqsEndpoint) };
  return startPubsubBroker({
    ...defined({ dataDir }),
    logLevel,
    onLine: (actor, line) => onEvent({ event: 'line', actor, stream: 'stdout', line }),
    onWarning: (text) => onEvent({ event: 'warning', actor: transport, text }),
  });
}

async function openGateway(
  engines: Engines,
  broker: MeshBroker,
  { gateway, logLevel = 'info', onEvent }: MeshOptions,
  flows: () => readonly Flow[],
): Promise<{ gateway: LocalGateway } | { problem: string } | undefined> {
  if (gateway === undefined) return undefined;
  return startLocalGateway({
    variables: { ...storeVariables(engines), ...broker.variables },
    ...gateway,
    logLevel,
    flows,
    onLine: (line) => onEvent({ event: 'line', actor: GATEWAY, stream: 'stdout', line }),
    onWarning: (text) => onEvent({ event: 'warning', actor: GATEWAY, text }),
  });
}
