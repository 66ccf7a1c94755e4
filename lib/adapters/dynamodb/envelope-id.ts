import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { DeriveId } from '../../core/envelope/decode.ts';
import { safeName } from '../../core/failure/record.ts';
import { exceedsUtf8Bytes, headWithinUtf8 } from '../../core/text/utf8.ts';
import { MAX_TEXT_BYTES, text } from './table.ts';

/** By id, as an envelope's items have it. */
export function envelopeAttributes(id: string, deriveId: DeriveId) {
  return {
    envelope_key: text(envelopeKey(id, deriveId)),
    envelope_id: text(storedId(id, deriveId)),
  } satisfies Record<string, AttributeValue>;
}

/** What its items are found by; an id as it is kept finds the same ones as the whole. */
export function envelopeKey(id: string, deriveId: DeriveId): string {
  return safeName(storedId(id, deriveId), deriveId);
}

const HEAD_BYTES = 100;

/** What the table cannot hold whole gets a hash in place of the rest: cut alone, two envelopes would be taken for one. */
function storedId(id: string, deriveId: DeriveId): string {
  if (id.isWellFormed() && !exceedsUtf8Bytes(id, MAX_TEXT_BYTES)) return id;
  return `${headWithinUtf8(id, HEAD_BYTES).toWellFormed()}…${deriveId('envelope', id)}`;
}
