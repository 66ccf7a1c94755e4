import { type AttributeValue, QueryCommand } from '@aws-sdk/client-dynamodb';
import { isFinal, type Task } from '../../core/task/task.ts';
import { partitionsOf } from './shards.ts';
import { type Item, number, type Table, text } from './table.ts';

export interface OverdueQuery {
  readonly owner: string;
  /** The tasks were created from `fromMs` to `toMs`, inclusive. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly nowMs: number;
  /** Reading stops when this many were found. */
  readonly limit: number;
  readonly taskFrom: (item: Item) => Task | undefined;
}

/** Open tasks of an owner whose deadline has passed. Rejects if a request fails. */
export async function overdueTasks(table: Table, query: OverdueQuery): Promise<readonly Task[]> {
  const found: Task[] = [];
  for (const { value } of partitionsOf(query.owner)) {
    let start: Record<string, AttributeValue> | undefined;
    do {
      const page = await readPage(table, value, query, start);
      found.push(
        ...page.items.flatMap((item) => query.taskFrom(item) ?? []).filter((one) => isOverdue(one, query)),
      );
      if (found.length >= query.limit) return found.slice(0, query.limit);
      start = page.next;
    } while (start !== undefined);
  }
  return found;
}

function isOverdue({ owner, state, deadlineMs }: Task, query: OverdueQuery): boolean {
  const isOpen = !isFinal(state) && deadlineMs !== undefined;
  // Names of partitions are cut if they are very long, so two owners may share one.
  return isOpen && deadlineMs <= query.nowMs && owner === query.owner;
}

async function readPage(
  { client, name }: Table,
  partition: string,
  { fromMs, toMs }: OverdueQuery,
  start: Record<string, AttributeValue> | undefined,
): Promise<{ readonly items: readonly Item[]; readonly next?: Record<string, AttributeValue> }> {
  const { Items = [], LastEvaluatedKey: next } = await client.send(
    new QueryCommand({
      TableName: name,
      IndexName: 'by-owner',
      KeyConditionExpression: '#owner = :partition AND seen_ms BETWEEN :from AND :to',
      FilterExpression: '#state IN (:pending, :running, :paused)',
      ExpressionAttributeNames: { '#owner': 'owner', '#state': 'state' },
      ExpressionAttributeValues: {
        ':partition': text(partition),
        ':from': number(fromMs),
        ':to': number(toMs),
        ':pending': text('pending'),
        ':running': text('running'),
        ':paused': text('paused'),
      },
      ...(start !== undefined && { ExclusiveStartKey: start }),
    }),
  );
  return { items: Items, ...(next !== undefined && { next }) };
}
