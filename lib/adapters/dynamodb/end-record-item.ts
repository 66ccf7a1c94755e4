import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { DeriveId } from '../../core/envelope/decode.ts';
import type { End } from '../../core/envelope/end.ts';
import type { FanOut } from '../../core/envelope/fan-out.ts';
import type { EndRecord } from '../../core/failure/record.ts';
import { inboxOf } from './ends-inbox.ts';
import { envelopeAttributes } from './envelope-id.ts';
import { type Item, number, numberOf, optionalText, text, textOf } from './table.ts';

/** Longer than any broker retains a message that could report the same end again. */
const RETENTION_SECONDS = 45 * 86_400;

/** An end record as an item of the table, without its key. */
export function itemFromRecord(record: EndRecord, deriveId: DeriveId): Item {
  const { identity, envelopeId, end, actor, hop, attempts, reason, atMs, archiveKey } = record;
  const { flow, task, parentId, replay, fanOuts } = record;
  return {
    inbox: text(inboxOf(identity)),
    identity: text(identity),
    ...envelopeAttributes(envelopeId, deriveId),
    end: text(end),
    actor: text(actor),
    hop: number(hop),
    ...(attempts !== undefined && { attempts: number(attempts) }),
    reason: text(reason),
    ...(flow !== undefined && { flow: text(flow) }),
    ...(task !== undefined && { task: text(task) }),
    ...(parentId !== undefined && { parent_id: text(parentId) }),
    ...(replay !== undefined && { replay: text(replay) }),
    seen_ms: number(atMs),
    ...(archiveKey !== undefined && { archive_key: text(archiveKey) }),
    ...(fanOuts !== undefined && { fan_outs: { L: fanOuts.map(itemFromFanOut) } }),
    expires_at: number(Math.ceil(atMs / 1000) + RETENTION_SECONDS),
  };
}

export function recordFromItem(item: Item): EndRecord {
  return {
    identity: textOf(item, 'identity'),
    envelopeId: textOf(item, 'envelope_id'),
    end: textOf(item, 'end') as End,
    actor: textOf(item, 'actor'),
    hop: numberOf(item, 'hop'),
    ...(item['attempts'] !== undefined && { attempts: numberOf(item, 'attempts') }),
    reason: textOf(item, 'reason'),
    ...optionalText(item, 'flow', 'flow'),
    ...optionalText(item, 'task', 'task'),
    ...optionalText(item, 'parent_id', 'parentId'),
    ...optionalText(item, 'replay', 'replay'),
    atMs: numberOf(item, 'seen_ms'),
    ...optionalText(item, 'archive_key', 'archiveKey'),
    ...(item['fan_outs']?.L !== undefined && { fanOuts: item['fan_outs'].L.map(fanOutFromItem) }),
  };
}

function itemFromFanOut({ actor, hop, items }: FanOut): AttributeValue {
  return { M: { actor: text(actor), hop: number(hop), items: number(items) } };
}

function fanOutFromItem({ M: fields = {} }: AttributeValue): FanOut {
  return { actor: textOf(fields, 'actor'), hop: numberOf(fields, 'hop'), items: numberOf(fields, 'items') };
}
