import type { Envelope } from '../../core/envelope/envelope.ts';
import { batchKeyFor, placeFromKey, textFromEntries } from '../../core/failure/archive-batch.ts';
import { type ArchivedRecord, inBatch, recordOf } from '../../core/failure/record.ts';
import type { Refusal, Reply } from '../../ports/reply.ts';
import { type ArchiveDeps, archiveEnvelope, ensureArchived, type Recorded } from './archive-envelope.ts';

/** An envelope with its encoded text. */
export interface EncodedEnvelope {
  readonly envelope: Envelope;
  readonly text: string;
}

/**
 * Archives several envelopes in one object, each once per identity. Returns one result per envelope, in order.
 *
 * The claims come first: the object then contains exactly the envelopes that no other delivery has archived, so
 * redeliveries leave nothing behind. After a crash before the put, each redelivered envelope finds its claim taken and
 * the entry missing, and gets its own object.
 */
export async function archiveBatch(
  envelopes: readonly EncodedEnvelope[],
  deps: ArchiveDeps,
): Promise<readonly (Recorded | Refusal)[]> {
  const now = deps.clock.now();
  const candidates = envelopes.map((one) => ({ ...one, record: recordOf(one.envelope, now, deps.deriveId) }));
  // The same envelope may have been delivered twice at once. The first one counts.
  const byIdentity = new Map(candidates.toReversed().map((one) => [one.record.identity, one]));
  const results = await archiveDistinct([...byIdentity.values()].toReversed(), now, deps);
  return candidates.map(({ record }) => results.get(record.identity) as Recorded | Refusal);
}

interface Candidate extends EncodedEnvelope {
  readonly record: ArchivedRecord;
}

async function archiveDistinct(
  candidates: readonly Candidate[],
  now: number,
  deps: ArchiveDeps,
): Promise<ReadonlyMap<string, Recorded | Refusal>> {
  const [first, ...others] = candidates;
  if (first !== undefined && others.length === 0)
    return new Map([[first.record.identity, await archiveEnvelope(first.envelope, deps)]]);
  // A later delivery of the same envelopes must not replace the object.
  const id = deps.deriveId('batch', now, ...candidates.map(({ record }) => record.identity));
  const claimed = await Promise.all(candidates.map((one) => claimEntry(one, id, deps)));
  const objects = Map.groupBy(
    claimed.filter((one) => one.kind === 'own'),
    ({ batch }) => batch,
  );
  const puts = new Map<string, Reply>(
    await Promise.all(
      [...objects].map(async ([batch, own]) => [batch, await putBatch(batch, own, deps)] as const),
    ),
  );
  const results = claimed.map(async (one) => [one.record.identity, await resultOf(one, puts, deps)] as const);
  return new Map(await Promise.all(results));
}

/** `own`: the stored record refers to this batch. `taken`: another delivery recorded the end. */
type Claimed = Own | Taken | (Candidate & { readonly kind: 'refused'; readonly refusal: Refusal });

interface Own extends Candidate {
  readonly kind: 'own';
  readonly archiveKey: string;
  readonly batch: string;
}

interface Taken extends Candidate {
  readonly kind: 'taken';
  readonly archiveKey: string | undefined;
}

async function claimEntry(one: Candidate, id: string, { records }: ArchiveDeps): Promise<Claimed> {
  const batch = batchKeyFor(one.record.archiveKey, id);
  const claim = await records.claim(inBatch(one.record, batch));
  if (!claim.ok) return { ...one, kind: 'refused', refusal: claim };
  const { archiveKey } = claim;
  // Not `isFirst`: a request whose answer was lost is repeated, and then finds its own record.
  return archiveKey !== undefined && placeFromKey(archiveKey).batch === batch
    ? { ...one, kind: 'own', archiveKey, batch }
    : { ...one, kind: 'taken', archiveKey };
}

/** There are several objects only if the envelopes ended on different days. */
function putBatch(batch: string, own: readonly Own[], { archive }: ArchiveDeps): Promise<Reply> {
  const entries = own.map(({ archiveKey, text }) => [placeFromKey(archiveKey).key, text] as const);
  return archive.put(batch, textFromEntries(new Map(entries)));
}

async function resultOf(
  one: Claimed,
  puts: ReadonlyMap<string, Reply>,
  deps: ArchiveDeps,
): Promise<Recorded | Refusal> {
  if (one.kind === 'refused') return one.refusal;
  if (one.kind === 'taken') return ensureArchived(one.archiveKey, one.envelope, deps);
  const put = puts.get(one.batch);
  return put?.ok === false ? put : { ok: true, archiveKey: one.archiveKey };
}
