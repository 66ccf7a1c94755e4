import { type DeriveId, decode } from '../../core/envelope/decode.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import { childIdsFrom, type FanOut, fanOutsOf } from '../../core/envelope/fan-out.ts';
import { ARCHIVED_WITHIN_MS, type EndRecord } from '../../core/failure/record.ts';
import type { Archive } from '../../ports/archive.ts';
import type { EndRecords } from '../../ports/end-records.ts';
import type { Refusal } from '../../ports/reply.ts';

/** One envelope of a run that has ended. */
export interface RunEnd {
  readonly record: EndRecord;
  /** As it was archived. Undefined if the mesh does not archive it, or the archive no longer contains it. */
  readonly envelope?: Envelope;
}

export interface FollowDeps {
  readonly records: Pick<EndRecords, 'ofEnvelope'>;
  readonly archive: Pick<Archive, 'get'>;
  readonly deriveId: DeriveId;
  readonly now: () => number;
  /** Whether an end counts already. Default: as soon as the envelope is archived. */
  readonly isReady?: (record: EndRecord) => Promise<boolean>;
}

/** An envelope and all its fan-out children, as far as they are known. The children of an envelope are known at its end. */
export interface FollowedRun {
  /** Looks up envelopes that have not ended. Resolves with those that have ended since. */
  refresh(): Promise<{ readonly ok: true; readonly ends: readonly RunEnd[] } | Refusal>;
  /** The ids of envelopes without a known end. */
  open(): readonly string[];
  /** The known end of an envelope. */
  endOf(id: string): RunEnd | undefined;
  /** The ids of the known children of an envelope, in the order in which they were created. */
  childrenOf(id: string): readonly string[];
  /** Adds children that are known before their parent's end. */
  addChildren(parent: string, ids: readonly string[]): void;
}

/** Lookups per refresh. The ones that were looked up longest ago come first. */
const MAX_LOOKUPS = 25;

export function followRun(root: string, deps: FollowDeps): FollowedRun {
  const ends = new Map<string, RunEnd>();
  const children = new Map<string, string[]>();
  let open: readonly string[] = [root];

  function addChildren(parent: string, ids: readonly string[]): void {
    const known = children.get(parent) ?? [];
    const added = ids.filter((id) => !known.includes(id) && id !== root);
    if (added.length === 0) return;
    children.set(parent, [...known, ...added]);
    open = [...open, ...added];
  }

  return {
    refresh: async () => {
      const looked = open.slice(0, MAX_LOOKUPS);
      const found = await Promise.all(looked.map((id) => endOf(id, deps)));
      const refusal = found.find((one) => one !== undefined && 'ok' in one);
      if (refusal !== undefined && 'ok' in refusal) return refusal;
      const ended = found.filter((one): one is RunEnd => one !== undefined && 'record' in one);
      const waiting = looked.filter((_, at) => found[at] === undefined);
      open = [...open.slice(MAX_LOOKUPS), ...waiting];
      for (const [at, one] of found.entries()) {
        const id = looked[at];
        if (id === undefined || one === undefined || 'ok' in one) continue;
        ends.set(id, one);
        addChildren(id, childIdsFrom(id, fanOutsIn(one), deps.deriveId));
      }
      return { ok: true, ends: ended };
    },
    open: () => open,
    endOf: (id) => ends.get(id),
    childrenOf: (id) => children.get(id) ?? [],
    addChildren,
  };
}

function fanOutsIn({ record, envelope }: RunEnd): readonly FanOut[] {
  return envelope === undefined ? (record.fanOuts ?? []) : fanOutsOf(envelope);
}

/** Undefined if it has not ended, or its envelope is not archived yet. */
async function endOf(id: string, deps: FollowDeps): Promise<RunEnd | Refusal | undefined> {
  const { records, archive, deriveId, now, isReady } = deps;
  const ends = await records.ofEnvelope(id);
  if (!ends.ok) return ends;
  const [record] = ends.records;
  if (record === undefined) return undefined;
  if (record.archiveKey === undefined) return { record };
  const archived = await archive.get(record.archiveKey);
  if (!archived.ok) return archived;
  if (archived.text === undefined) return now() - record.atMs < ARCHIVED_WITHIN_MS ? undefined : { record };
  if (!((await isReady?.(record)) ?? true)) return undefined;
  const { envelope } = decode(archived.text, { actor: record.actor, messageId: id, deriveId });
  return { record, envelope };
}
