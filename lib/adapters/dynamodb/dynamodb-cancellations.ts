import { GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { CANCELLATIONS_PREFIX } from '../../config/plan/failure-table.ts';
import type { Cancellations } from '../../ports/cancellations.ts';
import type { Clock } from '../../ports/clock.ts';
import { ACCEPTED } from '../../ports/reply.ts';
import { isConditionFailed, number, refusalOf, type Table, text } from './table.ts';

/** Each item has the cancellations of a period of this length and of the one before. */
const PERIOD_MS = 600_000;
/** An item with more would be dear to read. */
const MAX_IN_ITEM = 1_000;
/** How old an answer of the table may be. Many sidecars ask. */
const CACHED_MS = 2_000;

/** The recent cancellations are in one item, so that reading them costs the same however many tasks there are. */
export function dynamoDbCancellations(table: Table, clock: Clock): Cancellations {
  const { client, name: TableName } = table;
  let readAt = Number.NEGATIVE_INFINITY;
  let known: Promise<readonly string[]> = Promise.resolve([]);

  async function addTo(period: number, taskId: string): Promise<void> {
    try {
      await client.send(
        new UpdateItemCommand({
          TableName,
          Key: { pk: text(keyOf(period)) },
          UpdateExpression: 'ADD tasks :task SET expires_at = :expiry',
          ConditionExpression: 'attribute_not_exists(tasks) OR size(tasks) < :most',
          ExpressionAttributeValues: {
            ':task': { SS: [taskId] },
            ':expiry': number(Math.ceil(((period + 2) * PERIOD_MS) / 1000)),
            ':most': number(MAX_IN_ITEM),
          },
        }),
      );
    } catch (error) {
      if (!isConditionFailed(error)) throw error;
    }
  }

  async function read(period: number): Promise<readonly string[]> {
    try {
      const output = await client.send(new GetItemCommand({ TableName, Key: { pk: text(keyOf(period)) } }));
      return output.Item?.['tasks']?.SS ?? [];
    } catch {
      return [];
    }
  }

  return {
    add: async (taskId) => {
      const period = Math.floor(clock.now() / PERIOD_MS);
      try {
        await Promise.all([addTo(period, taskId), addTo(period + 1, taskId)]);
        // What was read before does not contain it.
        readAt = Number.NEGATIVE_INFINITY;
        return ACCEPTED;
      } catch (error) {
        return refusalOf(error, table);
      }
    },
    recent: () => {
      const now = clock.now();
      if (now - readAt >= CACHED_MS) {
        readAt = now;
        known = read(Math.floor(now / PERIOD_MS));
      }
      return known;
    },
  };
}

function keyOf(period: number): string {
  return `${CANCELLATIONS_PREFIX}${period}`;
}
