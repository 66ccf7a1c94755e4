import type { Failure } from './failure.ts';

/** Failures of one cause. */
export interface FailureGroup {
  readonly fingerprint: string;
  readonly actor: string;
  readonly errorType: string;
  /** Of the newest. */
  readonly errorMessage: string;
  readonly reasons: readonly string[];
  readonly flows: readonly string[];
  readonly count: number;
  /** How many of them were sent once more. */
  readonly replayed: number;
  readonly firstSeenMs: number;
  readonly lastSeenMs: number;
}

/** Gathers failures one by one, in whatever order; a group costs the same however many it holds. */
export interface Grouping {
  add(failure: Failure): void;
  /** The group whose newest failure is newest comes first. */
  groups(): readonly FailureGroup[];
}

export function grouping(): Grouping {
  const byFingerprint = new Map<string, FailureGroup>();
  return {
    add: (failure) => {
      const known = byFingerprint.get(failure.fingerprint);
      byFingerprint.set(failure.fingerprint, known === undefined ? groupOf(failure) : joined(known, failure));
    },
    groups: () =>
      [...byFingerprint.values()].sort(
        (one, other) => other.lastSeenMs - one.lastSeenMs || (one.fingerprint < other.fingerprint ? -1 : 1),
      ),
  };
}

function groupOf(failure: Failure): FailureGroup {
  const { fingerprint, actor, errorType, errorMessage, reason, flow, replays, firstSeenMs, lastSeenMs } =
    failure;
  return {
    fingerprint,
    actor,
    errorType,
    errorMessage,
    reasons: [reason],
    flows: flow === undefined ? [] : [flow],
    count: 1,
    replayed: replays.length > 0 ? 1 : 0,
    firstSeenMs,
    lastSeenMs,
  };
}

function joined(group: FailureGroup, failure: Failure): FailureGroup {
  const { reason, flow, replays, firstSeenMs, lastSeenMs, errorMessage } = failure;
  const isNewest = lastSeenMs > group.lastSeenMs;
  return {
    ...group,
    errorMessage: isNewest ? errorMessage : group.errorMessage,
    reasons: withOne(group.reasons, reason),
    flows: flow === undefined ? group.flows : withOne(group.flows, flow),
    count: group.count + 1,
    replayed: group.replayed + (replays.length > 0 ? 1 : 0),
    firstSeenMs: Math.min(group.firstSeenMs, firstSeenMs),
    lastSeenMs: Math.max(group.lastSeenMs, lastSeenMs),
  };
}

function withOne(words: readonly string[], word: string): readonly string[] {
  return words.includes(word) ? words : [...words, word];
}
