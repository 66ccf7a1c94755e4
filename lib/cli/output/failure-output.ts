import type { Failure } from '../../core/failure/failure.ts';
import { failureState } from '../../core/failure/failure-state.ts';
import { defined } from '../../core/text/defined.ts';
import { timestampText } from '../../core/text/timestamp.ts';
import type { Column } from './table.ts';
import { agoText } from './times.ts';

/** In columns. Ids are copied from tables, so only ids that no screen has room for are cut. */
export const MAX_ID = 100;

/** One row per envelope, with its group and its state if the rows may differ in them. */
export function failureColumns(
  now: number,
  withGroup: boolean,
  withState: boolean,
): readonly Column<Failure>[] {
  const state: Column<Failure> = { title: 'STATE', text: failureState };
  const group: Column<Failure> = { title: 'GROUP', text: ({ fingerprint }) => fingerprint };
  return [
    { title: 'ENVELOPE', text: ({ envelopeId }) => envelopeId, most: MAX_ID },
    ...(withGroup ? [group] : []),
    ...(withState ? [state] : []),
    { title: 'FAILED', text: ({ lastSeenMs }) => agoText(lastSeenMs, now) },
    { title: 'ACTOR', text: ({ actor }) => actor, most: 63 },
    { title: 'REASON', text: ({ reason }) => reason, most: 30 },
    { title: 'ATTEMPTS', text: ({ attempts }) => String(attempts), align: 'right' },
    { title: 'REPLAYS', text: ({ replays }) => String(replays.length), align: 'right' },
    { title: 'ERROR', text: ({ errorType, errorMessage }) => `${errorType}: ${errorMessage}`, most: 60 },
  ];
}

interface NoteJson {
  readonly replay: string;
  readonly at: string;
  readonly to: string;
  readonly end?: string;
}

export function failureJson(
  failure: Failure,
): Readonly<Record<string, unknown>> & { readonly replays: readonly NoteJson[] } {
  const { firstSeenMs, lastSeenMs, fingerprint, replays, resolved, ...rest } = failure;
  return {
    ...rest,
    group: fingerprint,
    firstSeen: timestampText(firstSeenMs),
    lastSeen: timestampText(lastSeenMs),
    state: failureState(failure),
    ...(resolved !== undefined && {
      resolved: { replay: resolved.replay, at: timestampText(resolved.atMs) },
    }),
    replays: replays.map(({ replay, atMs, to, end }) => ({
      replay,
      at: timestampText(atMs),
      to,
      ...defined({ end }),
    })),
  };
}
