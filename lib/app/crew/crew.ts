import type { Crew } from '../../core/delivery/actor.ts';
import type { CallEnd } from '../../core/delivery/outcome.ts';
import type { DeriveId } from '../../core/envelope/decode.ts';
import { encode } from '../../core/envelope/encode.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import { type Failure, failureOf } from '../../core/failure/failure.ts';
import { recordOf } from '../../core/failure/record.ts';
import { finalReportOf } from '../../core/task/report.ts';
import type { Archive } from '../../ports/archive.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EndRecords } from '../../ports/end-records.ts';
import type { FailureIndex } from '../../ports/failure-index.ts';
import type { Reply } from '../../ports/reply.ts';
import type { Reports } from '../../ports/reports.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { Telemetry } from '../../ports/telemetry.ts';

/** What the crew works with. */
export interface CrewDeps {
  readonly archive: Archive;
  readonly records: EndRecords;
  readonly failures: FailureIndex;
  readonly reports: Reports;
  readonly clock: Clock;
  readonly deriveId: DeriveId;
  readonly telemetry: Pick<Telemetry, 'warn'>;
  /** A failure is in the index, entered now or before: to be told where somebody looks. */
  readonly onFailure: (failure: Failure, isNew: boolean) => void;
}

/**
 * The crew stands on the same line as everybody else; what is called is not a user's handler but this. Every step can
 * be repeated: what was done before a crash changes nothing when the delivery comes again.
 */
export function crewRuntime(crew: Crew, shelf: CrewDeps): Runtime {
  const work = { sink: persist, sump: enter, dlq: keepAndEnter }[crew.role];
  const isTold = crew.role !== 'sump';
  return {
    restartsItself: true,
    call: async ({ envelope, timeoutMs }) => {
      const ending = new AbortController();
      const tooLate = shelf.clock.sleep(timeoutMs, ending.signal);
      try {
        const kept = await Promise.race([work(envelope, shelf), tooLate]);
        if (kept === undefined) return { kind: 'timeout' };
        // What is kept is kept: a gateway that hangs costs what is left of the time, and no redelivery.
        if (kept.ok && isTold) await Promise.race([report(envelope, kept.archiveKey, shelf), tooLate]);
        return callEndOf(kept);
      } finally {
        ending.abort();
      }
    },
    interrupt: () => {},
    problem: () => Promise.resolve(undefined),
    close: () => Promise.resolve(),
  };
}

/** Refused by the store is refused by the crew: no ack, and it comes again. */
function callEndOf(reply: Reply): CallEnd {
  if (reply.ok) return { kind: 'empty' };
  const fault = { type: 'StorageError', mro: ['Exception'], message: reply.problem, traceback: '' };
  return { kind: 'fault', fault };
}

/** x-sump: into the failure index, with the key that x-sink kept it under. What came another way is kept here. */
async function enter(envelope: Envelope, shelf: CrewDeps): Promise<Persisted> {
  const found = await shelf.records.find(recordOf(envelope, shelf.clock.now(), shelf.deriveId));
  if (!found.ok) return found;
  const kept: Persisted =
    found.record === undefined
      ? await persist(envelope, shelf)
      : { ok: true, archiveKey: found.record.archiveKey };
  return kept.ok ? enterAs(envelope, kept, shelf) : kept;
}

/** x-dlq: all of it, because nobody comes after. */
async function keepAndEnter(envelope: Envelope, shelf: CrewDeps): Promise<Persisted> {
  const kept = await persist(envelope, shelf);
  return kept.ok ? enterAs(envelope, kept, shelf) : kept;
}

interface Kept {
  readonly ok: true;
  readonly archiveKey: string;
}

type Persisted = Kept | Extract<Reply, { ok: false }>;

/**
 * x-sink: into the archive, once for each identity; forwarding is the plan's.
 *
 * The claim decides whose record it is; the archive is written after it. Between the two lies a crash: who finds the
 * claim made looks whether the envelope is there, and puts it there where not.
 */
async function persist(
  envelope: Envelope,
  { archive, records, clock, deriveId }: CrewDeps,
): Promise<Persisted> {
  const claim = await records.claim(recordOf(envelope, clock.now(), deriveId));
  if (!claim.ok) return claim;
  const { isFirst, archiveKey } = claim;
  if (!isFirst) {
    const look = await archive.has(archiveKey);
    if (!look.ok) return look;
    if (look.exists) return { ok: true, archiveKey };
  }
  const put = await archive.put(archiveKey, encode(envelope));
  return put.ok ? { ok: true, archiveKey } : put;
}

async function enterAs(envelope: Envelope, kept: Kept, shelf: CrewDeps): Promise<Persisted> {
  const { archiveKey } = kept;
  const failure = { ...failureOf(envelope, shelf.clock.now(), shelf.deriveId), archiveKey };
  const entry = await shelf.failures.enter(failure);
  if (!entry.ok) return entry;
  // Known ones too: whoever entered it may have crashed, or never heard that it was entered, and told nobody.
  shelf.onFailure(failure, entry.isNew);
  return kept;
}

/** A gateway that does not hear costs the envelope nothing: it can look into the archive. */
async function report(envelope: Envelope, archiveKey: string, shelf: CrewDeps): Promise<void> {
  const final = finalReportOf(envelope, archiveKey);
  const problem = final === undefined ? undefined : await shelf.reports.report(final);
  if (problem !== undefined) {
    shelf.telemetry.warn('the gateway was not told', { envelopeId: envelope.id, problem });
  }
}
