import type { DeriveId } from '../../core/envelope/decode.ts';
import { encode } from '../../core/envelope/encode.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import { fanOutsOf } from '../../core/envelope/fan-out.ts';
import { placeFromKey } from '../../core/failure/archive-batch.ts';
import { type NewRecord, recordOf, withoutArchive } from '../../core/failure/record.ts';
import type { Archive } from '../../ports/archive.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EndRecords } from '../../ports/end-records.ts';
import type { Refusal } from '../../ports/reply.ts';

export interface ArchiveDeps {
  readonly archive: Archive;
  readonly records: EndRecords;
  readonly clock: Clock;
  readonly deriveId: DeriveId;
}

/** The end is recorded, and the envelope is archived if it has to be. */
export interface Recorded {
  readonly ok: true;
  /** Undefined: the envelope is not archived. */
  readonly archiveKey?: string;
}

/**
 * Archives the envelope in its own object, once per identity.
 *
 * The claim decides which delivery archives the envelope. A process may crash between the claim and the archive's put,
 * so a delivery that finds the claim taken checks the archive and writes the envelope if it is not there.
 */
export function archiveEnvelope(envelope: Envelope, deps: ArchiveDeps): Promise<Recorded | Refusal> {
  return record(recordOf(envelope, deps.clock.now(), deps.deriveId), envelope, deps);
}

/** Records the end without archiving the envelope. */
export function recordOnly(envelope: Envelope, deps: ArchiveDeps): Promise<Recorded | Refusal> {
  const archived = recordOf(envelope, deps.clock.now(), deps.deriveId);
  return record(withoutArchive(archived, fanOutsOf(envelope)), envelope, deps);
}

async function record(
  newRecord: NewRecord,
  envelope: Envelope,
  deps: ArchiveDeps,
): Promise<Recorded | Refusal> {
  const claim = await deps.records.claim(newRecord);
  if (!claim.ok) return claim;
  const { isFirst, archiveKey } = claim;
  if (!isFirst) return ensureArchived(archiveKey, envelope, deps);
  return archiveKey === undefined ? { ok: true } : putAlone(archiveKey, envelope, deps);
}

/** For an end that another delivery recorded: stores the envelope if a crash prevented it. */
export async function ensureArchived(
  archiveKey: string | undefined,
  envelope: Envelope,
  deps: ArchiveDeps,
): Promise<Recorded | Refusal> {
  if (archiveKey === undefined) return { ok: true };
  const found = await deps.archive.has(archiveKey);
  if (!found.ok) return found;
  return found.exists ? { ok: true, archiveKey } : putAlone(archiveKey, envelope, deps);
}

async function putAlone(
  archiveKey: string,
  envelope: Envelope,
  { archive }: ArchiveDeps,
): Promise<Recorded | Refusal> {
  const put = await archive.put(placeFromKey(archiveKey).key, encode(envelope));
  return put.ok ? { ok: true, archiveKey } : put;
}
