import type { Failure } from '../../core/failure/failure.ts';
import type { EndRecord } from '../../core/failure/record.ts';
import type { EndRecords } from '../../ports/end-records.ts';

/** What is known so far of the ends of what a replay sent. */
export interface EndsOfReplay {
  /** Its end is no news: what goes back to the crew only gets the end that it had recorded, whichever that is. */
  expectAnyOf(failure: Failure): void;
  /** Looks for ends. Undefined: looked; otherwise, why not. */
  look(): Promise<string | undefined>;
  /** Those whose end is known. */
  ofSent(sent: readonly Failure[]): readonly Failure[];
  /** Also children of a fan-out, which were not sent by themselves. */
  failedAgain(): readonly EndRecord[];
}

/** The clocks of whoever ends envelopes agree to that much. */
const CLOCKS_DIFFER_MS = 300_000;

export function endsOfReplay(replay: string, records: EndRecords): EndsOfReplay {
  const endedIds = new Set<string>();
  const failed = new Map<string, EndRecord>();
  const anyEnd = new Set<string>();
  let newestMs = Number.NEGATIVE_INFINITY;

  /** Not from the beginning each time: thousands may have ended. An end that was only recorded now is as old as it is. */
  const sinceMs = () => (anyEnd.size > 0 ? 0 : Math.max(0, newestMs - CLOCKS_DIFFER_MS));

  return {
    expectAnyOf: ({ envelopeId }) => anyEnd.add(envelopeId),
    look: async () => {
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
