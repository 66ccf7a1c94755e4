import { eachFailure } from '../../../app/replay/select-failures.ts';
import { type GatewayAccess, runningMeshes } from '../../../assembly/mesh/running-mesh.ts';
import { stoppedMeshes } from '../../../assembly/mesh/stored-gateway.ts';
import { failureState } from '../../../core/failure/failure-state.ts';
import { EXIT } from '../../exit-status.ts';
import type { Operator } from '../../operator.ts';
import type { Terminal } from '../../output/terminal.ts';
import { UsageError } from '../../usage-error.ts';
import { type QueueOptions, queueTable, readQueues, SQS_ONLY, withQueues } from '../queues/queue-table.ts';

/** `asya status`: a mesh on this machine, its flows, queues and number of failures. */
export function runStatus(terminal: Terminal, options: QueueOptions): Promise<number> {
  return (
    statusOfStopped(terminal, options) ??
    withQueues(terminal, options, (operator) => printStatus(operator, options, terminal))
  );
}

/** Undefined unless all meshes with state in this folder, or the one that was named, are stopped. */
function statusOfStopped(
  { env, cwd, print }: Terminal,
  { mesh, json }: QueueOptions,
): Promise<number> | undefined {
  if (mesh === undefined && env['ASYA_FAILURE_TABLE']) return undefined;
  const isMeant = ({ name }: { readonly name: string }) => mesh === undefined || name === mesh;
  const stopped = stoppedMeshes(cwd).filter(isMeant);
  if (stopped.length === 0 || runningMeshes(cwd).some(isMeant)) return undefined;
  const found = stopped.map(({ name, gateway }) => ({
    name,
    isRunning: false,
    ...(gateway !== undefined && {
      gateway: { url: `http://127.0.0.1:${gateway.port}`, key: gateway.key },
    }),
  }));
  if (json) print(JSON.stringify(found, null, 2));
  else
    for (const { name, gateway } of found) {
      print(`${name}: not running; asya dev starts it`);
      if (gateway !== undefined) print(gatewayLines(gateway));
    }
  return Promise.resolve(EXIT.failed);
}

function gatewayLines({ url, key }: GatewayAccess): string {
  return `gateway: ${url}\nkey: ${key}`;
}

async function printStatus(
  operator: Operator,
  options: QueueOptions,
  { print, printError, env }: Terminal,
): Promise<number> {
  const { mesh, stores } = operator;
  if (mesh === undefined)
    throw new UsageError(
      'asya: status works only with a mesh on this machine; asya queues and asya failures also work on AWS',
    );
  const hasDepths = operator.config.transport === 'sqs';
  const rows = hasDepths ? await readQueues(operator, options, env) : [];
  let failures = 0;
  const refusal = await eachFailure({}, stores.failures, (failure) => {
    if (failureState(failure) === 'open') failures++;
  });
  if (refusal !== undefined) {
    printError(`asya: ${refusal.problem}`);
    return EXIT.failed;
  }
  if (options.json) {
    print(JSON.stringify({ ...mesh, isRunning: true, queues: rows, failures }, null, 2));
    return EXIT.ok;
  }
  print(`${mesh.name}: running as process ${mesh.pid}, from ${mesh.folder}`);
  if (mesh.gateway !== undefined) print(gatewayLines(mesh.gateway));
  print(`flows: ${mesh.flows.map(({ name }) => name).join(', ') || 'none'}`);
  print(`\n${hasDepths ? queueTable(rows) : SQS_ONLY}\n`);
  const count = failures === 1 ? '1 failure' : `${failures} failures`;
  print(failures === 0 ? 'no failures' : `${count}; run asya failures`);
  return EXIT.ok;
}
