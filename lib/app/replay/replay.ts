import { isActorName, isReservedName } from '../../core/envelope/actor-name.ts';
import type { Failure } from '../../core/failure/failure.ts';
import type { EndRecord } from '../../core/failure/record.ts';
import { defined } from '../../core/text/defined.ts';
import type { EndRecords } from '../../ports/end-records.ts';
import { type EndsOfReplay, endsOfReplay } from './ends-of-replay.ts';
import {
  notSentText,
  type ReplayOneDeps,
  type ReplayOneOptions,
  replayedBefore,
  replayOne,
  type Skipped,
} from './replay-one.ts';
import {
  type CheckQueue,
  checkTargets,
  type TargetCheck,
  targetOf,
  type UnreachableTarget,
} from './replay-targets.ts';

export interface ReplayOptions extends ReplayOneOptions {
  readonly perSecond: number;
  /**
   * How many to send per stage before waiting for their ends. The last number repeats. Undefined: send all without
   * waiting.
   */
  readonly stages?: readonly [number, ...number[]];
  /** How long to wait for the ends of a stage. */
  readonly waitMs: number;
}

export interface ReplayDeps extends ReplayOneDeps {
  readonly records: EndRecords;
  readonly checkQueue: CheckQueue;
  /** Aborts when the operator stops the replay. Nothing more is sent then. */
  readonly stop: AbortSignal;
  readonly onProgress: (progress: ReplayProgress) => void;
}

export interface ReplayProgress {
  readonly total: number;
  readonly sent: number;
  readonly skipped: number;
  /** How many of those sent have a known end. */
  readonly ended: number;
}

export interface ReplayEnd {
  readonly why:
    | 'all-sent'
    /** Some failed again: the remaining stages are not sent. */
    | 'failed-again'
    /** Some had no end within the wait. */
    | 'no-end'
    | 'stopped'
    /** A store refused, or the broker refused every target that was left: see `problem`. */
    | 'refused';
  readonly problem?: string;
  readonly sent: readonly Failure[];
  readonly skipped: readonly Skipped[];
  readonly left: readonly Failure[];
  /** Those sent that have ended and did not fail again. */
  readonly endedWell: readonly Failure[];
  /** Includes children of a fan-out. */
  readonly failedAgain: readonly EndRecord[];
}

const CHECK_ENDS_MS = 500;

/**
 * Sends failed envelopes again, in stages. After each stage it waits for the ends of the envelopes it sent. If one of
 * them fails again, it sends nothing more.
 *
 * If a target's queue is missing or the broker refuses a target, it skips that target's failures and sends the others.
 * If the broker refuses every target, the replay ends.
 */
export async function replayFailures(
  selected: readonly Failure[],
  options: ReplayOptions,
  deps: ReplayDeps,
): Promise<ReplayEnd> {
  const check = await checkReplayTargets(selected, options, deps.checkQueue);
  const unreachable: ReadonlyMap<Failure, UnreachableTarget> = check.ok ? check.unreachable : new Map();
  let failures = selected.filter((failure) => !unreachable.has(failure));
  const sent: Failure[] = [];
  /** Targets that accepted a send and have not refused one since. */
  const accepting = new Set<string>();
  const skipped: Skipped[] = [...unreachable].map(([failure, why]) => ({ failure, ...why }));
  const ends = endsOfReplay(options.replay, deps.records);
  let at = 0;
  let ended = 0;
  const reportProgress = () =>
    deps.onProgress({ total: selected.length, sent: sent.length, skipped: skipped.length, ended });
  const end = (why: ReplayEnd['why'], problem?: string): ReplayEnd => {
    const failedAgain = ends.failedAgain();
    const failedIds = new Set(failedAgain.map(({ envelopeId }) => envelopeId));
    return {
      why,
      ...defined({ problem }),
      sent,
      skipped,
      left: failures.slice(at),
      endedWell: ends.ofSent(sent).filter(({ envelopeId }) => !failedIds.has(envelopeId)),
      failedAgain,
    };
  };

  const targetIfUnsent = (failure: Failure) =>
    isUnsent(failure, options) ? targetOf(failure, options.to) : undefined;
  /** Skips the remaining failures of this target. False if the target refused and no other target is left. */
  const skipTarget = (current: Failure, why: UnreachableTarget): boolean => {
    accepting.delete(why.target);
    const { own = [], others = [] } = Object.groupBy(failures.slice(at), (failure) =>
      failure === current || targetIfUnsent(failure) === why.target ? 'own' : 'others',
    );
    const hasOtherTarget =
      accepting.size > 0 || others.some((failure) => isActorName(targetIfUnsent(failure)));
    if (!hasOtherTarget && why.isQueueMissing !== true) return false;
    skipped.push(...own.map((failure) => ({ failure, ...why })));
    failures = [...failures.slice(0, at), ...others];
    return true;
  };

  if (!check.ok) return end('refused', check.problem);
  for (let stage = 0; at < failures.length; stage++) {
    const size = options.stages?.at(Math.min(stage, options.stages.length - 1)) ?? failures.length;
    const before = sent.length;
    while (at < failures.length && sent.length < before + size) {
      if (deps.stop.aborted) return end('stopped');
      const failure = failures[at] as Failure;
      const outcome = await replayOne(failure, options, deps);
      if (outcome.kind === 'refused') return end('refused', outcome.problem);
      if (outcome.kind === 'target-refused') {
        if (!skipTarget(failure, outcome.target))
          return end('refused', notSentText(failure, outcome.target.problem));
        reportProgress();
        continue;
      }
      at++;
      if (outcome.kind === 'sent') {
        sent.push(failure);
        accepting.add(outcome.to);
        if (isReservedName(outcome.to)) ends.expectAnyOf(failure);
      } else skipped.push({ failure, ...outcome.skipped });
      reportProgress();
      if (outcome.kind === 'sent') await deps.clock.sleep(1000 / options.perSecond, deps.stop);
    }
    if (options.stages === undefined) continue;
    const waited = await untilEnded(sent.slice(before), ends, options.waitMs, deps, () => {
      ended = ends.ofSent(sent).length;
      reportProgress();
    });
    if (waited.why !== 'ended') return end(waited.why, waited.problem);
  }
  return end('all-sent');
}

/** Checks the targets of the failures that would be sent. Failures that were replayed before need no queue. */
export function checkReplayTargets(
  failures: readonly Failure[],
  options: ReplayOptions,
  checkQueue: CheckQueue,
): Promise<TargetCheck> {
  const unsent = failures.filter((failure) => isUnsent(failure, options));
  return checkTargets(unsent, options.to, checkQueue);
}

function isUnsent(failure: Failure, { again }: ReplayOptions): boolean {
  return again || replayedBefore(failure) === undefined;
}

type Waited =
  | { readonly why: 'ended'; readonly problem?: undefined }
  | { readonly why: 'failed-again' | 'no-end' | 'stopped' | 'refused'; readonly problem?: string };

/** Waits until every envelope has ended, or until the first one fails again. */
async function untilEnded(
  sent: readonly Failure[],
  ends: EndsOfReplay,
  waitMs: number,
  { clock, stop }: ReplayDeps,
  onRefreshed: () => void,
): Promise<Waited> {
  const givesUpAt = clock.now() + waitMs;
  for (;;) {
    const problem = await ends.refresh();
    if (problem !== undefined) return { why: 'refused', problem };
    onRefreshed();
    if (ends.failedAgain().length > 0) return { why: 'failed-again' };
    const missing = sent.length - ends.ofSent(sent).length;
    if (missing === 0) return { why: 'ended' };
    if (stop.aborted) return { why: 'stopped' };
    if (clock.now() >= givesUpAt)
      return { why: 'no-end', problem: `${missing} of the sent envelopes did not end` };
    await clock.sleep(CHECK_ENDS_MS, stop);
  }
}
