import type { DeriveId } from '../envelope/decode.ts';
import { type End, endActorOf, endOf } from '../envelope/end.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { headerText, REPLAY } from '../envelope/headers.ts';
import { hopOf } from '../envelope/route.ts';
import { defined } from '../text/defined.ts';
import { instantMs, timestampText } from '../text/timestamp.ts';

/** An envelope's end as it is kept: delivered again, it is the same record; failed again after a replay, another. */
export interface EndRecord {
  /** Out of id, phase, actor, hop and replay. */
  readonly identity: string;
  readonly envelopeId: string;
  readonly end: End;
  /** The actor it ended at. */
  readonly actor: string;
  readonly hop: number;
  readonly reason: string;
  /** The replay that had sent it once more. */
  readonly replay?: string;
  readonly atMs: number;
  /** Where the whole envelope is kept. */
  readonly archiveKey: string;
}

/** A record that is to be noted. */
export interface NewRecord extends EndRecord {
  /** The same for all that would have this key: ends of one id at one actor. The first of them has it. */
  readonly place: string;
  /** For whoever comes later, at another hop. */
  readonly alternativeKey: string;
}

export function recordOf(envelope: Envelope, now: number, deriveId: DeriveId): NewRecord {
  const { id, route, status, headers } = envelope;
  const end = endOf(envelope);
  const actor = endActorOf(envelope);
  const hop = hopOf(route);
  const replay = headerText(headers, REPLAY) || undefined;
  const atMs = instantMs(status?.updated_at) ?? now;
  const folder = end === 'failed' && status?.reason === 'DeliveryExhausted' ? 'dlq' : end;
  const stem = `${folder}/${timestampText(atMs).slice(0, 10)}/${safeName(actor, deriveId)}/${safeName(id, deriveId)}`;
  // Marked with what no safe name holds: no two records have one key.
  const replayed = replay === undefined ? '' : `=${safeName(replay, deriveId)}`;
  return {
    identity: deriveId('record', id, end, actor, hop, replay ?? ''),
    envelopeId: id,
    end,
    actor,
    hop,
    reason: typeof status?.reason === 'string' ? status.reason : '',
    ...defined({ replay }),
    atMs,
    archiveKey: `${stem}${replayed}.json`,
    place: deriveId('place', id, end, actor, replay ?? ''),
    alternativeKey: `${stem}@${hop}${replayed}.json`,
  };
}

const MAX_NAME = 200;
/** Nothing, or what a path would be resolved by. */
const ONLY_DOTS = /^\.*$/;

/** A part of a key: as it is where it can be, escaped where not, hashed where that would be too long. */
export function safeName(text: string, deriveId: DeriveId): string {
  const escaped = text.isWellFormed() ? encodeURIComponent(text) : '';
  const isSafe = escaped.length <= MAX_NAME && !ONLY_DOTS.test(escaped);
  return isSafe ? escaped : deriveId('name', text);
}
