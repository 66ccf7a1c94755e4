import type { Failure } from './failure.ts';
import { type FailureState, failureState } from './failure-state.ts';

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
  /** How many of them are open. */
  readonly open: number;
  /** How many of them are resolved: their envelopes succeeded in a replay. */
  readonly resolved: number;
  /** How many of them failed again in a replay. Each has a newer failure. */
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
  const { fingerprint, actor, errorType, errorMessage, reason, flow, firstSeenMs, lastSeenMs } = failure;
  return {
    fingerprint,
    actor,
    errorType,
    errorMessage,
    reasons: [reason],
    flows: flow === undefined ? [] : [flow],
    count: 1,
    ...countsOf(failure),
    firstSeenMs,
    lastSeenMs,
  };
}

function countsOf(failure: Failure): Pick<FailureGroup, FailureState> {
  const state = failureState(failure);
  return {
    open: state === 'open' ? 1 : 0,
    resolved: state === 'resolved' ? 1 : 0,
    replayed: state === 'replayed' ? 1 : 0,
  };
}

function joined(group: FailureGroup, failure: Failure): FailureGroup {
  const { reason, flow, firstSeenMs, lastSeenMs, errorMessage } = failure;
  const { open, resolved, replayed } = countsOf(failure);
  const isNewest = lastSeenMs > group.lastSeenMs;
  return {
    ...group,
    errorMessage: isNewest ? errorMessage : group.errorMessage,
    reasons: withOne(group.reasons, reason),
    flows: flow === undefined ? group.flows : withOne(group.flows, flow),
    count: group.count + 1,
    open: group.open + open,
    resolved: group.resolved + resolved,
    replayed: group.replayed + replayed,
    firstSeenMs: Math.min(group.firstSeenMs, firstSeenMs),
    lastSeenMs: Math.max(group.lastSeenMs, lastSeenMs),
  };
}

function withOne(words: readonly string[], word: string): readonly string[] {
  return words.includes(word) ? words : [...words, word];
}
