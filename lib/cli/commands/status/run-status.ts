import { eachFailure } from '../../../app/replay/select-failures.ts';
import { EXIT } from '../../exit-status.ts';
import type { Operator } from '../../operator.ts';
import type { Terminal } from '../../output/terminal.ts';
import { UsageError } from '../../usage-error.ts';
import { type QueueOptions, queueTable, readQueues, SQS_ONLY, withQueues } from '../queues/queue-table.ts';

/** `asya status`: a mesh on this machine, its flows, queues and number of failures. */
export function runStatus(terminal: Terminal, options: QueueOptions): Promise<number> {
  return withQueues(terminal, options, (operator) => printStatus(operator, options, terminal));
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
  const refusal = await eachFailure({}, stores.failures, () => failures++);
  if (refusal !== undefined) {
    printError(`asya: ${refusal.problem}`);
    return EXIT.failed;
  }
  if (options.json) {
    print(JSON.stringify({ ...mesh, queues: rows, failures }, null, 2));
    return EXIT.ok;
  }
  print(`${mesh.name}: running as process ${mesh.pid}, from ${mesh.folder}`);
  print(`flows: ${mesh.flows.map(({ name }) => name).join(', ') || 'none'}`);
  print(`\n${hasDepths ? queueTable(rows) : SQS_ONLY}\n`);
  const count = failures === 1 ? '1 failure' : `${failures} failures`;
  print(failures === 0 ? 'no failures' : `${count}; run asya failures`);
  return EXIT.ok;
}
