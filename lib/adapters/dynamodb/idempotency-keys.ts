import { type AttributeValue, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { IDEMPOTENCY_PREFIX } from '../../config/plan/failure-table.ts';
import { ACCEPTED } from '../../ports/reply.ts';
import type { KeyClaim, TaskStore } from '../../ports/task-store.ts';
import {
  getItem,
  isConditionFailed,
  number,
  numberOf,
  refusalOf,
  type Table,
  text,
  textOf,
} from './table.ts';

const KEY_RETENTION_SECONDS = 86_400;

/** The claims of idempotency keys, each as an item of its own. */
export function idempotencyKeys(table: Table): Pick<TaskStore, 'claimKey' | 'confirmKey' | 'releaseKey'> {
  const { client, name: TableName } = table;

  async function readKey(key: string, nowSeconds: number): Promise<KeyClaim | undefined> {
    const item = await getItem(table, idempotencyKey(key));
    if (item === undefined || numberOf(item, 'expires_at') < nowSeconds) return undefined;
    return {
      taskId: textOf(item, 'task_id'),
      digest: textOf(item, 'digest'),
      atMs: numberOf(item, 'at_ms'),
      ...(item['is_sent']?.BOOL === true ? { isSent: true } : {}),
    };
  }

  async function changeKey(
    key: string,
    taskId: string,
    UpdateExpression: string,
    values: Readonly<Record<string, AttributeValue>>,
  ): Promise<void> {
    await client.send(
      new UpdateItemCommand({
        TableName,
        Key: { pk: text(idempotencyKey(key)) },
        UpdateExpression,
        ConditionExpression: 'task_id = :mine',
        ExpressionAttributeValues: { ...values, ':mine': text(taskId) },
      }),
    );
  }

  return {
    claimKey: async (key, claim) => {
      const { taskId, digest, atMs } = claim;
      const nowSeconds = Math.floor(atMs / 1000);
      try {
        await client.send(
          new PutItemCommand({
            TableName,
            Item: {
              pk: text(idempotencyKey(key)),
              task_id: text(taskId),
              digest: text(digest),
              at_ms: number(atMs),
              expires_at: number(nowSeconds + KEY_RETENTION_SECONDS),
            },
            // DynamoDB may delete an expired item days later: an expired claim counts as deleted.
            ConditionExpression: 'attribute_not_exists(pk) OR expires_at < :now',
            ExpressionAttributeValues: { ':now': number(nowSeconds) },
          }),
        );
        return { ok: true, isFirst: true, claim };
      } catch (error) {
        if (!isConditionFailed(error)) return refusalOf(error, table);
      }
      try {
        const first = await readKey(key, nowSeconds);
        if (first !== undefined) return { ok: true, isFirst: false, claim: first };
        return { ok: false, problem: 'the key was released just now' };
      } catch (error) {
        return refusalOf(error, table);
      }
    },
    confirmKey: async (key, taskId) => {
      try {
        await changeKey(key, taskId, 'SET is_sent = :yes', { ':yes': { BOOL: true } });
        return ACCEPTED;
      } catch (error) {
        return isConditionFailed(error) ? ACCEPTED : refusalOf(error, table);
      }
    },
    releaseKey: async (key, taskId) => {
      try {
        // Expires the claim instead of deleting it: with permission to delete, the gateway could delete failures too.
        await changeKey(key, taskId, 'SET expires_at = expires_at - :over', {
          ':over': number(KEY_RETENTION_SECONDS + 1),
        });
        return ACCEPTED;
      } catch (error) {
        return isConditionFailed(error) ? ACCEPTED : refusalOf(error, table);
      }
    },
  };
}

function idempotencyKey(key: string): string {
  return `${IDEMPOTENCY_PREFIX}${key}`;
}
