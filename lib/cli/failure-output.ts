import type { Failure } from '../core/failure.ts';
import { timestampText } from '../core/timestamp.ts';
import type { Column } from './table.ts';
import { agoText } from './times.ts';

export function failureColumns(now: number): readonly Column<Failure>[] {
  return [
    { title: 'ENVELOPE', text: ({ envelopeId }) => envelopeId, most: 40 },
    { title: 'FAILED', text: ({ lastSeenMs }) => agoText(lastSeenMs, now) },
    { title: 'ACTOR', text: ({ actor }) => actor },
    { title: 'REASON', text: ({ reason }) => reason },
    { title: 'ATTEMPTS', text: ({ attempts }) => String(attempts), align: 'right' },
    { title: 'REPLAYS', text: ({ replays }) => String(replays.length), align: 'right' },
    { title: 'ERROR', text: ({ errorType, errorMessage }) => `${errorType}: ${errorMessage}`, most: 60 },
  ];
}

export function failureJson(failure: Failure): Readonly<Record<string, unknown>> {
  const { firstSeenMs, lastSeenMs, fingerprint, replays, ...rest } = failure;
  return {
    ...rest,
    group: fingerprint,
    firstSeen: timestampText(firstSeenMs),
    lastSeen: timestampText(lastSeenMs),
    replays: replays.map(({ replay, atMs, to }) => ({ replay, at: timestampText(atMs), to })),
  };
}
