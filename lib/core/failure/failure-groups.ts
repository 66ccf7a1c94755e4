import type { Failure } from './failure.ts';

/** Failures with the same cause. */
export interface FailureGroup {
  readonly fingerprint: string;
  readonly actor: string;
  readonly errorType: string;
  /** The message of the newest failure. */
  readonly errorMessage: string;
  readonly reasons: readonly string[];
  readonly flows: readonly string[];
  readonly count: number;
  /** How many of them were replayed. */
  readonly replayed: number;
  readonly firstSeenMs: number;
  readonly lastSeenMs: number;
}

/** Groups failures one by one, in any order. The memory of a group does not depend on its number of failures. */
export interface Grouping {
  add(failure: Failure): void;
  /** The groups, by the time of their newest failure, latest first. */
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
