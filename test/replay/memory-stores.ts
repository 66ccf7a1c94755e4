import type { Failure } from '../../lib/core/failure/failure.ts';
import type { EndRecord } from '../../lib/core/failure/record.ts';
import type { Archive } from '../../lib/ports/archive.ts';
import type { EndRecords } from '../../lib/ports/end-records.ts';
import type { FailureFilter, FailureIndex } from '../../lib/ports/failure-index.ts';
import { ACCEPTED, type Refusal } from '../../lib/ports/reply.ts';

/** In-memory implementations of the stores, for tests with hundreds of envelopes or with outages. */
export interface MemoryStores {
  readonly archive: Archive;
  readonly records: EndRecords;
  readonly failures: FailureIndex;
  readonly objects: Map<string, string>;
  /** Refuses this call from now on; with undefined, all calls work again. */
  breakDown(call: keyof Archive | keyof EndRecords | keyof FailureIndex | undefined): void;
  close(): void;
}

const PAGE = 40;

export function memoryStores(): MemoryStores {
  const objects = new Map<string, string>();
  const ends = new Map<string, EndRecord>();
  const taken = new Set<string>();
  const entries = new Map<string, Failure>();
  let broken: string | undefined;

  /** Like the real stores, refuses with a value and does not throw. */
  const guarded = <Store extends object>(store: Store): Store =>
    new Proxy(store, {
      get: (target, name, receiver) =>
        name === broken
          ? async (): Promise<Refusal> => ({ ok: false, problem: `${String(name)}: the store is down` })
          : Reflect.get(target, name, receiver),
    });

  const newestFirst = () => [...entries.values()].sort((one, other) => other.lastSeenMs - one.lastSeenMs);
  const endsMatching = async (predicate: (record: EndRecord) => boolean) => ({
    ok: true as const,
    records: [...ends.values()].filter(predicate),
  });

  const archive: Archive = {
    put: async (key, text) => {
      objects.set(key, text);
      return ACCEPTED;
    },
    get: async (key) => ({ ok: true, text: objects.get(key) }),
    has: async (key) => ({ ok: true, exists: objects.has(key) }),
    remove: async (key) => {
      objects.delete(key);
      return ACCEPTED;
    },
  };
  const records: EndRecords = {
    claim: async ({ place, alternativeKey, ...record }) => {
      const first = ends.get(record.identity);
      if (first !== undefined) return { ok: true, isFirst: false, archiveKey: first.archiveKey };
      const archiveKey = taken.has(place) ? alternativeKey : record.archiveKey;
      taken.add(place);
      ends.set(record.identity, { ...record, archiveKey });
      return { ok: true, isFirst: true, archiveKey };
    },
    find: async ({ identity }) => ({ ok: true, record: ends.get(identity) }),
    ofEnvelope: (envelopeId) => endsMatching((record) => record.envelopeId === envelopeId),
    ofReplay: (replay, sinceMs = 0) =>
      endsMatching((record) => record.replay === replay && record.atMs >= sinceMs),
  };
  const failures: FailureIndex = {
    add: async (failure) => {
      const isNew = !entries.has(failure.identity);
      if (isNew) entries.set(failure.identity, failure);
      return { ok: true, isNew };
    },
    list: async (filter, cursor) => {
      const from = Number(cursor ?? 0);
      const some = newestFirst().slice(from, from + PAGE);
      const hasMore = from + PAGE < entries.size;
      const next = hasMore ? { next: String(from + PAGE) } : {};
      return { ok: true, failures: some.filter((failure) => matches(failure, filter)), ...next };
    },
    ofEnvelope: async (envelopeId) => ({
      ok: true,
      failures: newestFirst().filter((failure) => failure.envelopeId === envelopeId),
    }),
    recordReplay: async (identity, note, again) => {
      const failure = entries.get(identity);
      if (failure === undefined)
        return { ok: false, problem: 'it was removed from the failure index', why: 'gone' };
      if (failure.replays.some(({ replay }) => replay === note.replay)) return ACCEPTED;
      if (failure.replays.length > 0 && !again)
        return { ok: false, problem: 'it was replayed before', why: 'already-replayed' };
      entries.set(identity, { ...failure, replays: [...failure.replays, note] });
      return ACCEPTED;
    },
    removeReplay: async (identity, replay) => {
      const failure = entries.get(identity);
      if (failure !== undefined) {
        const replays = failure.replays.filter((note) => note.replay !== replay);
        entries.set(identity, { ...failure, replays });
      }
      return ACCEPTED;
    },
    recordReplayEnd: async ({ envelopeId, replay, end, atMs }) => {
      for (const [identity, failure] of entries) {
        if (failure.envelopeId !== envelopeId) continue;
        if (end === 'succeeded' && failure.replay !== replay)
          entries.set(identity, { ...failure, resolved: failure.resolved ?? { replay, atMs } });
        if (end === 'failed') {
          const replays = failure.replays.map((note) => (note.replay === replay ? { ...note, end } : note));
          entries.set(identity, { ...failure, replays });
        }
      }
      return ACCEPTED;
    },
    remove: async (identity) => {
      entries.delete(identity);
      return ACCEPTED;
    },
  };
  return {
    archive: guarded(archive),
    records: guarded(records),
    failures: guarded(failures),
    objects,
    breakDown: (call) => {
      broken = call;
    },
    close: () => {},
  };
}

function matches(
  failure: Failure,
  { group, actor, reason, flow, idPrefix = '', sinceMs = 0 }: FailureFilter,
): boolean {
  return (
    (group === undefined || failure.fingerprint === group) &&
    (actor === undefined || failure.actor === actor) &&
    (reason === undefined || failure.reason === reason) &&
    (flow === undefined || failure.flow === flow) &&
    failure.envelopeId.startsWith(idPrefix) &&
    failure.lastSeenMs >= sinceMs
  );
}
