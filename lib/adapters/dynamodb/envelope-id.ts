import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { DeriveId } from '../../core/envelope/decode.ts';
import { safeName } from '../../core/failure/record.ts';
import { exceedsUtf8Bytes, headWithinUtf8 } from '../../core/text/utf8.ts';
import { MAX_TEXT_BYTES, text } from './table.ts';

/** The attributes by which an envelope's items can be found. */
export function envelopeAttributes(id: string, deriveId: DeriveId) {
  return {
    envelope_key: text(envelopeKey(id, deriveId)),
    envelope_id: text(storedId(id, deriveId)),
  } satisfies Record<string, AttributeValue>;
}

/** The index key for an envelope id. The full id and the stored (shortened) id have the same key. */
export function envelopeKey(id: string, deriveId: DeriveId): string {
  return safeName(storedId(id, deriveId), deriveId);
}

const HEAD_BYTES = 100;

/** An id that the table cannot store is cut and gets a hash of the whole, so that two long ids stay different. */
function storedId(id: string, deriveId: DeriveId): string {
  if (id.isWellFormed() && !exceedsUtf8Bytes(id, MAX_TEXT_BYTES)) return id;
  return `${headWithinUtf8(id, HEAD_BYTES).toWellFormed()}…${deriveId('envelope', id)}`;
}
