import type { Crew } from '../../core/delivery/actor.ts';
import type { CallResult } from '../../core/delivery/outcome.ts';
import { endOf } from '../../core/envelope/end.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import { headerText, REPLAY } from '../../core/envelope/headers.ts';
import { type Failure, failureOf } from '../../core/failure/failure.ts';
import { recordOf } from '../../core/failure/record.ts';
import { finalReportOf } from '../../core/task/report.ts';
import { defined } from '../../core/text/defined.ts';
import type { FailureIndex } from '../../ports/failure-index.ts';
import type { Refusal, Reply } from '../../ports/reply.ts';
import type { Reports } from '../../ports/reports.ts';
import type { Runtime } from '../../ports/runtime.ts';
import type { Telemetry } from '../../ports/telemetry.ts';
import { archiveEnvelope, type Recorded } from './archive-envelope.ts';
import { type ArchivingDeps, archiving } from './archiving.ts';

export interface CrewDeps extends ArchivingDeps {
  readonly failures: FailureIndex;
  readonly reports: Reports;
  readonly telemetry: Pick<Telemetry, 'warn'>;
  /** Called when a failure is in the index. `isNew` is false if it was added before. */
  readonly onFailure: (failure: Failure, isNew: boolean) => void;
}

/**
 * The built-in crew: x-sink, x-sump and x-dlq. They use the same line as every actor, with this runtime in place of a
 * user's handler. Every step is idempotent, so a redelivery after a crash changes nothing.
 */
export function crewRuntime(crew: Crew, deps: CrewDeps): Runtime {
  const archive = archiving(deps);
  const work = {
    sink: (envelope: Envelope) => recordEnd(envelope, archive, deps),
    sump: (envelope: Envelope) => indexFailure(envelope, deps),
    dlq: (envelope: Envelope) => archiveAndIndex(envelope, deps),
  }[crew.role];
  const reportsEnds = crew.role !== 'sump';
  return {
    restartsItself: true,
    call: async ({ envelope, timeoutMs }) => {
      const ending = new AbortController();
      const tooLate = deps.clock.sleep(timeoutMs, ending.signal);
      try {
        const stored = await Promise.race([work(envelope), tooLate]);
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

type Stored = Recorded | Refusal;

/** x-sink: archives the envelope. If it succeeded in a replay, its failures are resolved. */
async function recordEnd(
  envelope: Envelope,
  archive: (envelope: Envelope) => Promise<Stored>,
  deps: CrewDeps,
): Promise<Stored> {
  const stored = await archive(envelope);
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

/** x-sump: adds the failure to the index, with x-sink's archive key. Archives an envelope that bypassed x-sink. */
async function indexFailure(envelope: Envelope, deps: CrewDeps): Promise<Stored> {
  const found = await deps.records.find(recordOf(envelope, deps.clock.now(), deps.deriveId));
  if (!found.ok) return found;
  const stored: Stored =
    found.record === undefined
      ? await archiveEnvelope(envelope, deps)
      : { ok: true, ...defined({ archiveKey: found.record.archiveKey }) };
  return stored.ok ? addToIndex(envelope, stored, deps) : stored;
}

/** x-dlq: archives the envelope and adds it to the index, because no other crew member receives it afterwards. */
async function archiveAndIndex(envelope: Envelope, deps: CrewDeps): Promise<Stored> {
  const stored = await archiveEnvelope(envelope, deps);
  return stored.ok ? addToIndex(envelope, stored, deps) : stored;
}

async function addToIndex(envelope: Envelope, recorded: Recorded, deps: CrewDeps): Promise<Stored> {
  const { archiveKey } = recorded;
  const failure = {
    ...failureOf(envelope, deps.clock.now(), deps.deriveId),
    ...defined({ archiveKey }),
  };
  const entry = await deps.failures.add(failure);
  if (!entry.ok) return entry;
  if (failure.replay !== undefined) {
    const { envelopeId, replay, lastSeenMs: atMs } = failure;
    const noted = await deps.failures.recordReplayEnd({ envelopeId, replay, end: 'failed', atMs });
    if (!noted.ok) return noted;
  }
  // Also if it is not new: the process that added it may have crashed before it reported the failure.
  deps.onFailure(failure, entry.isNew);
  return recorded;
}

/** A report that fails does not fail the envelope: the gateway can still read its end from the archive. */
async function report(envelope: Envelope, archiveKey: string | undefined, deps: CrewDeps): Promise<void> {
  const final = finalReportOf(envelope, archiveKey);
  const problem = final === undefined ? undefined : await deps.reports.report(final);
  if (problem !== undefined) {
    deps.telemetry.warn('reporting to the gateway failed', { envelopeId: envelope.id, problem });
  }
}
