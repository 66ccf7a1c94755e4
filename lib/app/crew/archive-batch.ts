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
  const [first, ...others] = envelopes;
  if (first !== undefined && others.length === 0) return [await archiveEnvelope(first.envelope, deps)];
  const now = deps.clock.now();
  const records = envelopes.map(({ envelope }) => recordOf(envelope, now, deps.deriveId));
  // A later delivery of the same envelopes must not replace the object.
  const id = deps.deriveId('batch', now, ...records.map(({ identity }) => identity));
  const claimed = await Promise.all(
    envelopes.map((one, at) => claimEntry(one, records[at] as ArchivedRecord, id, deps)),
  );
  const objects = objectsOf(claimed);
  const puts = new Map<string, Reply>(
    await Promise.all(
      [...objects].map(
        async ([batch, entries]) => [batch, await deps.archive.put(batch, textFromEntries(entries))] as const,
      ),
    ),
  );
  return Promise.all(
    claimed.map((one) => {
      if (one.kind === 'refused') return one.refusal;
      if (one.kind === 'taken') return ensureArchived(one.archiveKey, one.envelope, deps);
      const put = puts.get(one.batch);
      return put?.ok === false ? put : { ok: true, archiveKey: one.archiveKey };
    }),
  );
}

/** `own`: the stored record refers to this batch. `taken`: another delivery recorded the end. */
type Claimed =
  | ({ readonly kind: 'own'; readonly archiveKey: string; readonly batch: string } & EncodedEnvelope)
  | ({ readonly kind: 'taken'; readonly archiveKey: string | undefined } & EncodedEnvelope)
  | { readonly kind: 'refused'; readonly refusal: Refusal };

async function claimEntry(
  one: EncodedEnvelope,
  record: ArchivedRecord,
  id: string,
  { records }: ArchiveDeps,
): Promise<Claimed> {
  const batch = batchKeyFor(record.archiveKey, id);
  const claim = await records.claim(inBatch(record, batch));
  if (!claim.ok) return { kind: 'refused', refusal: claim };
  const { archiveKey } = claim;
  // Not `isFirst`: a request whose answer was lost is repeated, and then finds its own record.
  return archiveKey !== undefined && placeFromKey(archiveKey).batch === batch
    ? { kind: 'own', archiveKey, batch, ...one }
    : { kind: 'taken', archiveKey, ...one };
}

/** The entries of each object. There are several objects only if the envelopes ended on different days. */
function objectsOf(claimed: readonly Claimed[]): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const objects = new Map<string, Map<string, string>>();
  for (const one of claimed) {
    if (one.kind !== 'own') continue;
    const entries = objects.get(one.batch) ?? new Map<string, string>();
    objects.set(one.batch, entries);
    const { key } = placeFromKey(one.archiveKey);
    // An envelope that was delivered twice at once has two entries. The first one counts.
    if (!entries.has(key)) entries.set(key, one.text);
  }
  return objects;
}
