import { EXIT } from '../../exit-status.ts';
import type { Operator } from '../../operator.ts';
import { oneLine } from '../../output/plain-text.ts';
import type { Terminal } from '../../output/terminal.ts';
import { actorsFrom, type QueueOptions, queueTable, readQueues, withQueues } from './queue-table.ts';

/** `asya queues`: the depth of every queue. */
export function runQueues(terminal: Terminal, options: QueueOptions): Promise<number> {
  return withQueues(terminal, options, (operator) => printQueues(operator, options, terminal));
}

async function printQueues(
  operator: Operator,
  options: QueueOptions,
  { print, printError, env }: Terminal,
): Promise<number> {
  const rows = await readQueues(operator, options, env);
  print(options.json ? JSON.stringify(rows, null, 2) : queueTable(rows));
  const missing = actorsFrom(options, operator).filter((name) => rows.every(({ actor }) => actor !== name));
  if (missing.length === 0) return EXIT.ok;
  printError(`asya: no queue exists for ${missing.map((name) => oneLine(name)).join(', ')}`);
  return EXIT.failed;
}
