import type { Failure } from '../../core/failure/failure.ts';
import type { EndRecord } from '../../core/failure/record.ts';
import type { EndRecords } from '../../ports/end-records.ts';

/** The known ends of the envelopes that a replay sent. */
export interface EndsOfReplay {
  /** Does not count this envelope's end as a new failure. The crew only records again the end that it already had. */
  expectAnyOf(failure: Failure): void;
  /** Reads new ends from the records. Undefined: success. Otherwise, the problem. */
  refresh(): Promise<string | undefined>;
  /** Those of `sent` whose end is known. */
  ofSent(sent: readonly Failure[]): readonly Failure[];
  /** Includes children of a fan-out, which the replay did not send itself. */
  failedAgain(): readonly EndRecord[];
}

/** How far the clocks of the processes that record ends may differ. */
const MAX_CLOCK_SKEW_MS = 300_000;

export function endsOfReplay(replay: string, records: EndRecords): EndsOfReplay {
  const endedIds = new Set<string>();
  const failed = new Map<string, EndRecord>();
  const anyEnd = new Set<string>();
  let newestMs = Number.NEGATIVE_INFINITY;

  /**
   * Does not read thousands of known ends every time. The ends of envelopes sent to the crew keep their original time,
   * so with such envelopes it reads from the beginning.
   */
  const sinceMs = () => (anyEnd.size > 0 ? 0 : Math.max(0, newestMs - MAX_CLOCK_SKEW_MS));

  return {
    expectAnyOf: ({ envelopeId }) => anyEnd.add(envelopeId),
    refresh: async () => {
      const seen = await records.ofReplay(replay, sinceMs());
      if (!seen.ok) return seen.problem;
      for (const record of seen.records) {
        endedIds.add(record.envelopeId);
        newestMs = Math.max(newestMs, record.atMs);
        if (record.end === 'failed' && !anyEnd.has(record.envelopeId)) failed.set(record.identity, record);
      }
      return undefined;
    },
    ofSent: (sent) => sent.filter(({ envelopeId }) => endedIds.has(envelopeId)),
    failedAgain: () => [...failed.values()],
  };
}
