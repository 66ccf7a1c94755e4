import {
  type AttributeValue,
  DeleteItemCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { FAILURE_PREFIX } from '../../config/plan/failure-table.ts';
import type { DeriveId } from '../../core/envelope/decode.ts';
import type { Failure, ReplayEntry } from '../../core/failure/failure.ts';
import { defined } from '../../core/text/defined.ts';
import type { FailureFilter, FailureIndex } from '../../ports/failure-index.ts';
import { ACCEPTED } from '../../ports/reply.ts';
import { envelopeAttributes, envelopeKey } from './envelope-id.ts';
import { INVALID_CURSOR, listPartitions, PAGE_BYTES } from './list-partitions.ts';
import type { ListQuery } from './partition-reader.ts';
import { partitionsOf, SHARD_MARK, shardName, shardOf } from './shards.ts';
import {
  getItem,
  type Item,
  isConditionFailed,
  number,
  numberOf,
  optionalText,
  putNew,
  queryAll,
  refusalOf,
  type Table,
  text,
  textOf,
} from './table.ts';

export function dynamoDbFailureIndex(table: Table, deriveId: DeriveId): FailureIndex {
  const { client, name: TableName } = table;
  const Key = (identity: string) => ({ pk: text(keyOf(identity)) });

  async function failuresOf(envelopeId: string): Promise<readonly Failure[]> {
    const items = await queryAll(table, { index: 'by-envelope', value: envelopeKey(envelopeId, deriveId) });
    return items.filter((item) => textOf(item, 'pk').startsWith(PREFIX)).map(failureFromItem);
  }

  return {
    add: async (failure) => {
      try {
        return { ok: true, isNew: await putNew(table, itemOf(failure, deriveId)) };
      } catch (error) {
        return refusalOf(error, table);
      }
    },
    list: async (filter, cursor) => {
      try {
        const page = await listPartitions(table, queryFor(filter), { ...PAGE, ...defined({ cursor }) });
        if (page === undefined) return INVALID_CURSOR;
        return { ok: true, failures: page.items.map(failureFromItem), ...defined({ next: page.next }) };
      } catch (error) {
        return refusalOf(error, table);
      }
    },
    ofEnvelope: async (envelopeId) => {
      try {
        return { ok: true, failures: await failuresOf(envelopeId) };
      } catch (error) {
        return refusalOf(error, table);
      }
    },
    recordReplay: async (identity, note, again) => {
      try {
        await client.send(
          new UpdateItemCommand({
            TableName,
            Key: Key(identity),
            UpdateExpression: 'SET replays.#replay = :note',
            ConditionExpression: again
              ? 'attribute_exists(pk)'
              : 'attribute_exists(pk) AND size(replays) = :none',
            ExpressionAttributeNames: { '#replay': note.replay },
            ExpressionAttributeValues: {
              ':note': { M: { at_ms: number(note.atMs), to: text(note.to) } },
              ...(again ? {} : { ':none': number(0) }),
            },
          }),
        );
        return { ok: true };
      } catch (error) {
        if (!isConditionFailed(error)) return refusalOf(error, table);
      }
      try {
        const item = await getItem(table, keyOf(identity));
        if (item === undefined)
          return { ok: false, problem: 'it was removed from the failure index', why: 'gone' };
        // The SDK repeats a request whose answer was lost; it then finds its own note.
        return item['replays']?.M?.[note.replay] === undefined
          ? { ok: false, problem: 'it was replayed before', why: 'already-replayed' }
          : { ok: true };
      } catch (error) {
        return refusalOf(error, table);
      }
    },
    removeReplay: async (identity, replay) => {
      try {
        await client.send(
          new UpdateItemCommand({
            TableName,
            Key: Key(identity),
            UpdateExpression: 'REMOVE replays.#replay',
            ConditionExpression: 'attribute_exists(pk)',
            ExpressionAttributeNames: { '#replay': replay },
          }),
        );
        return ACCEPTED;
      } catch (error) {
        return isConditionFailed(error) ? ACCEPTED : refusalOf(error, table);
      }
    },
    recordReplayEnd: async ({ envelopeId, replay, end, atMs }) => {
      try {
        const failures = await failuresOf(envelopeId);
        const update = async (
          { identity }: Failure,
          input: Omit<UpdateItemCommandInput, 'TableName' | 'Key'>,
        ): Promise<void> => {
          try {
            await client.send(new UpdateItemCommand({ TableName, Key: Key(identity), ...input }));
          } catch (error) {
            // It was purged, or another delivery of the same end was faster.
            if (!isConditionFailed(error)) throw error;
          }
        };
        if (end === 'succeeded') {
          const others = failures.filter((one) => one.replay !== replay && one.resolved === undefined);
          const resolved = { M: { replay: text(replay), at_ms: number(atMs) } };
          await Promise.all(
            others.map((one) =>
              update(one, {
                UpdateExpression: 'SET resolved = :resolved',
                ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(resolved)',
                ExpressionAttributeValues: { ':resolved': resolved },
              }),
            ),
          );
          return ACCEPTED;
        }
        const replayed = failures.filter(({ replays }) => replays.some((note) => note.replay === replay));
        await Promise.all(
          replayed.map((one) =>
            update(one, {
              UpdateExpression: 'SET replays.#replay.#end = :failed',
              ConditionExpression: 'attribute_exists(replays.#replay)',
              ExpressionAttributeNames: { '#replay': replay, '#end': 'end' },
              ExpressionAttributeValues: { ':failed': text('failed') },
            }),
          ),
        );
        return ACCEPTED;
      } catch (error) {
        return refusalOf(error, table);
      }
    },
    remove: async (identity) => {
      try {
        await client.send(new DeleteItemCommand({ TableName, Key: Key(identity) }));
        return ACCEPTED;
      } catch (error) {
        return refusalOf(error, table);
      }
    },
  };
}

const PREFIX = FAILURE_PREFIX;
/** The list of all failures in `by-time`. */
const INBOX = 'failures';
/** The most that one page contains and reads. A filter that matches little reads several pages. */
const PAGE = { limit: 1_000, maxRead: 2_000, maxBytes: PAGE_BYTES };

function keyOf(identity: string): string {
  return `${PREFIX}${identity}`;
}

function queryFor({ group, actor, reason, flow, idPrefix, sinceMs }: FailureFilter): ListQuery {
  const where = Object.fromEntries(
    Object.entries({ actor, reason, flow }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
  return {
    ...(group === undefined
      ? { index: 'by-time', hashName: 'inbox', partitions: partitionsOf(INBOX) }
      : { index: 'by-group', hashName: 'fingerprint', partitions: partitionsOf(group) }),
    keyPrefix: PREFIX,
    where,
    ...(idPrefix !== undefined && { startsWith: { envelope_id: idPrefix } }),
    ...defined({ sinceMs }),
  };
}

function itemOf(failure: Failure, deriveId: DeriveId): Item {
  const { flow, task, replay, fingerprint } = failure;
  const shard = shardOf(failure.identity);
  return {
    pk: text(keyOf(failure.identity)),
    [SHARD_MARK]: number(shard),
    inbox: text(shardName(INBOX, shard)),
    ...envelopeAttributes(failure.envelopeId, deriveId),
    actor: text(failure.actor),
    ...(flow !== undefined && { flow: text(flow) }),
    ...(task !== undefined && { task: text(task) }),
    reason: text(failure.reason),
    error_type: text(failure.errorType),
    error_message: text(failure.errorMessage),
    fingerprint: text(shardName(fingerprint, shard)),
    group: text(fingerprint),
    first_seen_ms: number(failure.firstSeenMs),
    seen_ms: number(failure.lastSeenMs),
    attempts: number(failure.attempts),
    archive_key: text(failure.archiveKey),
    ...(replay !== undefined && { failed_in_replay: text(replay) }),
    replays: { M: {} },
  };
}

function failureFromItem(item: Item): Failure {
  return {
    identity: textOf(item, 'pk').slice(PREFIX.length),
    envelopeId: textOf(item, 'envelope_id'),
    actor: textOf(item, 'actor'),
    ...optionalText(item, 'flow', 'flow'),
    ...optionalText(item, 'task', 'task'),
    reason: textOf(item, 'reason'),
    errorType: textOf(item, 'error_type'),
    errorMessage: textOf(item, 'error_message'),
    fingerprint: textOf(item, item[SHARD_MARK] === undefined ? 'fingerprint' : 'group'),
    firstSeenMs: numberOf(item, 'first_seen_ms'),
    lastSeenMs: numberOf(item, 'seen_ms'),
    attempts: numberOf(item, 'attempts'),
    archiveKey: textOf(item, 'archive_key'),
    ...optionalText(item, 'failed_in_replay', 'replay'),
    replays: Object.entries(item['replays']?.M ?? {})
      .map(noteFromItem)
      .sort((one, other) => one.atMs - other.atMs),
    ...resolutionFrom(item['resolved']?.M),
  };
}

function noteFromItem([replay, note]: [string, AttributeValue]): ReplayEntry {
  const fields = note.M ?? {};
  return {
    replay,
    atMs: numberOf(fields, 'at_ms'),
    to: textOf(fields, 'to'),
    ...(textOf(fields, 'end') === 'failed' ? { end: 'failed' } : {}),
  };
}

function resolutionFrom(fields: Item | undefined): Pick<Failure, 'resolved'> {
  if (fields === undefined) return {};
  return { resolved: { replay: textOf(fields, 'replay'), atMs: numberOf(fields, 'at_ms') } };
}
