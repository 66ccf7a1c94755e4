import type { Command } from 'commander';
import type { QueueDepths } from '../../adapters/sqs/queue-depths.ts';
import { eachFailure } from '../../app/replay/select-failures.ts';
import { CREW } from '../../config/plan/crew-plan.ts';
import { queueName } from '../../config/settings/queue-name.ts';
import { EXIT } from '../exit.ts';
import { type Operator, withOperator } from '../operator.ts';
import { oneLine } from '../output/plain-text.ts';
import { type Column, tableText } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import { UsageError } from '../usage-error.ts';

interface QueueOptions {
  readonly mesh?: string;
  readonly json?: boolean;
  readonly actors?: string;
}

/** `asya status` and `asya queues`. */
export function addStatus(program: Command, terminal: Terminal, exit: (status: number) => void): void {
  program
    .command('status')
    .description('what runs, what waits, what failed')
    .option('--mesh <name>', 'of this mesh, where several run here')
    .option('--json', 'for scripts')
    .addHelpText(
      'after',
      '\nExample:\n  asya status --mesh hello\n\nExit status: 0 fine, 1 something outside failed, 2 called wrongly.',
    )
    .action(async (options: QueueOptions) => {
      exit(await within(options, terminal, (operator) => printStatus(operator, options, terminal)));
    });
  program
    .command('queues')
    .description('how full every queue and dead-letter queue is')
    .option('--mesh <name>', 'of this mesh, where several run here')
    .option('--actors <names>', 'of these actors, with commas between: for a mesh that does not run here')
    .option('--json', 'for scripts')
    .addHelpText(
      'after',
      '\nExample:\n  asya queues --json\n\nExit status: 0 fine, 1 something outside failed, 2 called wrongly.',
    )
    .action(async (options: QueueOptions) => {
      exit(await within(options, terminal, (operator) => printQueues(operator, options, terminal)));
    });
}

function within(
  options: QueueOptions,
  terminal: Terminal,
  run: (operator: Operator) => Promise<number>,
): Promise<number> {
  return withOperator(terminal, options, async (operator) => {
    try {
      return await run(operator);
    } catch (error) {
      if (error instanceof UsageError) throw error;
      terminal.say(`asya: the queues do not answer: ${(error as Error).message}`);
      return EXIT.failed;
    }
  });
}

const UNTOLD =
  'how full queues are is seen on SQS alone; Pub/Sub tells it to Cloud Monitoring (num_undelivered_messages), RabbitMQ by rabbitmqctl list_queues';

interface Row extends QueueDepths {
  readonly actor: string;
}

function namesIn({ actors }: QueueOptions, { mesh }: Operator): readonly string[] {
  const names = actors?.split(',').map((name) => name.trim()) ?? mesh?.actors;
  if (names === undefined) throw new UsageError('asya: whose queues? name the actors with --actors a,b');
  return names;
}

async function rowsOf(
  operator: Operator,
  options: QueueOptions,
  env: Terminal['env'],
): Promise<readonly Row[]> {
  const { config } = operator;
  if (config.transport !== 'sqs') throw new UsageError(`asya: ${UNTOLD}`);
  const { sqsClient } = await import('../../adapters/sqs/sqs-client.ts');
  const { queueDepths } = await import('../../adapters/sqs/queue-depths.ts');
  const names = namesIn(options, operator);
  const client = sqsClient(config.sqs, env);
  try {
    const rows = await Promise.all(
      [...names, ...CREW].map(async (actor) => {
        const depths = await queueDepths(client, queueName(actor, config.namespace));
        return depths === undefined ? [] : [{ actor, ...depths }];
      }),
    );
    return rows.flat();
  } finally {
    client.destroy();
  }
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'ACTOR', text: ({ actor }) => actor },
  { title: 'WAITING', text: ({ visible }) => String(visible), align: 'right' },
  { title: 'IN FLIGHT', text: ({ inFlight }) => String(inFlight), align: 'right' },
  { title: 'DELAYED', text: ({ delayed }) => String(delayed), align: 'right' },
  { title: 'DLQ', text: ({ deadLettered }) => String(deadLettered), align: 'right' },
];

async function printQueues(
  operator: Operator,
  options: QueueOptions,
  { print, say, env }: Terminal,
): Promise<number> {
  const rows = await rowsOf(operator, options, env);
  print(options.json ? JSON.stringify(rows, null, 2) : tableText(COLUMNS, rows));
  const missing = namesIn(options, operator).filter((name) => rows.every(({ actor }) => actor !== name));
  if (missing.length === 0) return EXIT.fine;
  say(`asya: there is no queue of ${missing.map((name) => oneLine(name)).join(', ')}`);
  return EXIT.failed;
}

async function printStatus(
  operator: Operator,
  options: QueueOptions,
  { print, say, env }: Terminal,
): Promise<number> {
  const { mesh, stores } = operator;
  if (mesh === undefined)
    throw new UsageError(
      'asya: status tells of a mesh on this machine; asya queues and asya failures of any',
    );
  const isTold = operator.config.transport === 'sqs';
  const rows = isTold ? await rowsOf(operator, options, env) : [];
  let failures = 0;
  const refusal = await eachFailure({}, stores.failures, () => failures++);
  if (refusal !== undefined) {
    say(`asya: ${refusal.problem}`);
    return EXIT.failed;
  }
  if (options.json) {
    print(JSON.stringify({ ...mesh, queues: rows, failures }, null, 2));
    return EXIT.fine;
  }
  print(`${mesh.name}: runs as process ${mesh.pid} from ${mesh.folder}`);
  print(`flows: ${mesh.flows.map(({ name }) => name).join(', ') || 'none'}`);
  print(`\n${isTold ? tableText(COLUMNS, rows) : UNTOLD}\n`);
  const told = failures === 1 ? '1 failure' : `${failures} failures`;
  print(failures === 0 ? 'no failures' : `${told}: asya failures`);
  return EXIT.fine;
}
