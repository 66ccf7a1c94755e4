import type { Crew } from '../../core/delivery/actor.ts';
import type { CallResult } from '../../core/delivery/outcome.ts';
import type { DeriveId } from '../../core/envelope/decode.ts';
import { encode } from '../../core/envelope/encode.ts';
import { endOf } from '../../core/envelope/end.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import { headerText, REPLAY } from '../../core/envelope/headers.ts';
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

export interface CrewDeps {
  readonly archive: Archive;
  readonly records: EndRecords;
  readonly failures: FailureIndex;
  readonly reports: Reports;
  readonly clock: Clock;
  readonly deriveId: DeriveId;
  readonly telemetry: Pick<Telemetry, 'warn'>;
  /** Called when a failure is in the index. `isNew` is false if it was added before. */
  readonly onFailure: (failure: Failure, isNew: boolean) => void;
}

/**
 * The built-in crew: x-sink, x-sump and x-dlq. They use the same line as every actor, with this runtime in place of a
 * user's handler. Every step is idempotent, so a redelivery after a crash changes nothing.
 */
export function crewRuntime(crew: Crew, deps: CrewDeps): Runtime {
  const work = { sink: recordEnd, sump: indexFailure, dlq: archiveAndIndex }[crew.role];
  const reportsEnds = crew.role !== 'sump';
  return {
    restartsItself: true,
    call: async ({ envelope, timeoutMs }) => {
      const ending = new AbortController();
      const tooLate = deps.clock.sleep(timeoutMs, ending.signal);
      try {
        const stored = await Promise.race([work(envelope, deps), tooLate]);
        if (stored === undefined) return { kind: 'timeout' };
        // The envelope is stored: a gateway that does not answer costs the rest of the timeout, but no redelivery.
        if (stored.ok && reportsEnds)
          await Promise.race([report(envelope, stored.archiveKey, deps), tooLate]);
        return callEndOf(stored);
      } finally {
        ending.abort();
      }
    },
    interrupt: () => {},
    problem: () => Promise.resolve(undefined),
    close: () => Promise.resolve(),
  };
}

/** If a store refuses, the call fails: the delivery is not acknowledged, and the broker redelivers it. */
function callEndOf(reply: Reply): CallResult {
  if (reply.ok) return { kind: 'empty' };
  const fault = { type: 'StorageError', mro: ['Exception'], message: reply.problem, traceback: '' };
  return { kind: 'fault', fault };
}

/** x-sump: adds the failure to the index, with x-sink's archive key. Archives an envelope that bypassed x-sink. */
async function indexFailure(envelope: Envelope, deps: CrewDeps): Promise<Stored> {
  const found = await deps.records.find(recordOf(envelope, deps.clock.now(), deps.deriveId));
  if (!found.ok) return found;
  const stored: Stored =
    found.record === undefined
      ? await archiveEnvelope(envelope, deps)
      : { ok: true, archiveKey: found.record.archiveKey };
  return stored.ok ? addToIndex(envelope, stored, deps) : stored;
}

/** x-dlq: archives the envelope and adds it to the index, because no other crew member receives it afterwards. */
async function archiveAndIndex(envelope: Envelope, deps: CrewDeps): Promise<Stored> {
  const stored = await archiveEnvelope(envelope, deps);
  return stored.ok ? addToIndex(envelope, stored, deps) : stored;
}

interface Archived {
  readonly ok: true;
  readonly archiveKey: string;
}

type Stored = Archived | Extract<Reply, { ok: false }>;

/**
 * Archives the envelope, once per identity. The plan forwards failed envelopes to x-sump.
 *
 * The claim decides which delivery archives the envelope. A process may crash between the claim and the archive's put,
 * so a delivery that finds the claim taken checks the archive and writes the envelope if it is not there.
 */
async function archiveEnvelope(
  envelope: Envelope,
  { archive, records, clock, deriveId }: CrewDeps,
): Promise<Stored> {
  const claim = await records.claim(recordOf(envelope, clock.now(), deriveId));
  if (!claim.ok) return claim;
  const { isFirst, archiveKey } = claim;
  if (!isFirst) {
    const found = await archive.has(archiveKey);
    if (!found.ok) return found;
    if (found.exists) return { ok: true, archiveKey };
  }
  const put = await archive.put(archiveKey, encode(envelope));
  return put.ok ? { ok: true, archiveKey } : put;
}

/** x-sink: archives the envelope. If it succeeded in a replay, its failures are resolved. */
async function recordEnd(envelope: Envelope, deps: CrewDeps): Promise<Stored> {
  const stored = await archiveEnvelope(envelope, deps);
  const replay = headerText(envelope.headers, REPLAY);
  if (!stored.ok || !replay || endOf(envelope) !== 'succeeded') return stored;
  const noted = await deps.failures.recordReplayEnd({
    envelopeId: envelope.id,
    replay,
    end: 'succeeded',
    atMs: deps.clock.now(),
  });
  return noted.ok ? stored : noted;
}

async function addToIndex(envelope: Envelope, archived: Archived, deps: CrewDeps): Promise<Stored> {
  const { archiveKey } = archived;
  const failure = { ...failureOf(envelope, deps.clock.now(), deps.deriveId), archiveKey };
  const entry = await deps.failures.add(failure);
  if (!entry.ok) return entry;
  if (failure.replay !== undefined) {
    const { envelopeId, replay, lastSeenMs: atMs } = failure;
    const noted = await deps.failures.recordReplayEnd({ envelopeId, replay, end: 'failed', atMs });
    if (!noted.ok) return noted;
  }
  // Also if it is not new: the process that added it may have crashed before it reported the failure.
  deps.onFailure(failure, entry.isNew);
  return archived;
}

/** A report that fails does not fail the envelope: the gateway can still read its end from the archive. */
async function report(envelope: Envelope, archiveKey: string, deps: CrewDeps): Promise<void> {
  const final = finalReportOf(envelope, archiveKey);
  const problem = final === undefined ? undefined : await deps.reports.report(final);
  if (problem !== undefined) {
    deps.telemetry.warn('reporting to the gateway failed', { envelopeId: envelope.id, problem });
  }
}
