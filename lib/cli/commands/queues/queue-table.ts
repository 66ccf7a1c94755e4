import type { QueueDepths } from '../../../adapters/sqs/queue-depths.ts';
import { sdkSqs } from '../../../adapters/sqs/sdk-sqs.ts';
import { CREW } from '../../../config/plan/crew-plan.ts';
import { queueName } from '../../../config/settings/queue-name.ts';
import { EXIT } from '../../exit-status.ts';
import { type Operator, withOperator } from '../../operator.ts';
import { type Column, tableText } from '../../output/table.ts';
import type { Terminal } from '../../output/terminal.ts';
import { UsageError } from '../../usage-error.ts';

export interface QueueOptions {
  readonly mesh?: string;
  readonly json?: boolean;
  readonly actors?: string;
}

/** Runs with an operator. An error of the broker is printed, without a stack trace. */
export function withQueues(
  terminal: Terminal,
  options: QueueOptions,
  run: (operator: Operator) => Promise<number>,
): Promise<number> {
  return withOperator(terminal, options, async (operator) => {
    try {
      return await run(operator);
    } catch (error) {
      if (error instanceof UsageError) throw error;
      terminal.printError(`asya: cannot read the queues: ${(error as Error).message}`);
      return EXIT.failed;
    }
  });
}

/** Why the table is missing on other transports. */
export const SQS_ONLY =
  'queue depth is available on SQS only; for Pub/Sub see num_undelivered_messages in Cloud Monitoring, for RabbitMQ run rabbitmqctl list_queues';

interface QueueRow extends QueueDepths {
  readonly actor: string;
}

export function actorsFrom({ actors }: QueueOptions, { mesh }: Operator): readonly string[] {
  const names = actors?.split(',').map((name) => name.trim()) ?? mesh?.actors;
  if (names === undefined)
    throw new UsageError(
      'asya: --actors is missing; a mesh that does not run on this machine requires it, e.g. --actors score,store',
    );
  return names;
}

/** One row per queue that exists: the actors', then the crew's. */
export async function readQueues(
  operator: Operator,
  options: QueueOptions,
  env: Terminal['env'],
): Promise<readonly QueueRow[]> {
  const { config } = operator;
  if (config.transport !== 'sqs') throw new UsageError(`asya: ${SQS_ONLY}`);
  const { sqsClient } = await import('../../../adapters/sqs/sqs-client.ts');
  const { queueDepths } = await import('../../../adapters/sqs/queue-depths.ts');
  const names = actorsFrom(options, operator);
  const client = sqsClient(config.sqs, env);
  try {
    const rows = await Promise.all(
      [...names, ...CREW].map(async (actor) => {
        const depths = await queueDepths(sdkSqs(client), queueName(actor, config.namespace));
        return depths === undefined ? [] : [{ actor, ...depths }];
      }),
    );
    return rows.flat();
  } finally {
    client.destroy();
  }
}

const COLUMNS: readonly Column<QueueRow>[] = [
  { title: 'ACTOR', text: ({ actor }) => actor },
  { title: 'WAITING', text: ({ visible }) => String(visible), align: 'right' },
  { title: 'IN FLIGHT', text: ({ inFlight }) => String(inFlight), align: 'right' },
  { title: 'DELAYED', text: ({ delayed }) => String(delayed), align: 'right' },
  { title: 'DLQ', text: ({ deadLettered }) => String(deadLettered), align: 'right' },
];

export function queueTable(rows: readonly QueueRow[]): string {
  return tableText(COLUMNS, rows);
}
