import type { ReplayEnd, ReplayOptions } from '../../../app/replay/replay.ts';
import type { Skipped } from '../../../app/replay/replay-one.ts';
import { defined } from '../../../core/text/defined.ts';
import { durationText } from '../../../core/text/duration.ts';
import { oneLine } from '../../output/plain-text.ts';

/** How many envelopes are listed; the rest is only counted. */
const MAX_LISTED = 5;

/** The result of a replay: what was sent, what was not and why, and what to do next. */
export function endText(end: ReplayEnd, options: ReplayOptions): string {
  return [...skippedLines(end.skipped), ...failedLines(end), ...whyLines(end, options)].join('\n');
}

function whyLines(end: ReplayEnd, { waitMs, stages }: ReplayOptions): readonly string[] {
  const { why, problem = '', sent, left } = end;
  const counts = countsText(end, stages !== undefined);
  switch (why) {
    case 'all-sent':
      return [`${sent.length === 0 ? 'nothing was sent' : 'done'}: ${counts}`];
    case 'failed-again':
      return [
        `stopped because some envelopes failed again: ${counts}; nothing more was sent`,
        'for details run asya failures show ID',
      ];
    case 'no-end':
      return [
        `stopped: ${problem} within ${durationText(waitMs)}; ${counts}`,
        `they may still be in progress: check the queues${left.length > 0 ? '; run the same command again to send the rest' : ''}`,
      ];
    case 'stopped': {
      const [next] = left;
      const where =
        next === undefined
          ? `all were sent, ${sent.length - end.endedWell.length} have not ended yet`
          : `the next would have been ${oneLine(next.envelopeId)}`;
      return [
        `interrupted: ${counts}; ${where}`,
        ...(next === undefined ? [] : ['run the same command again to continue; nothing is sent twice']),
      ];
    }
    case 'refused':
      return [`stopped: ${oneLine(problem)}; ${counts}`];
  }
}

function countsText({ sent, endedWell, failedAgain, skipped, left }: ReplayEnd, isWatched: boolean): string {
  const ends = isWatched ? `, ${endedWell.length} succeeded, ${failedAgain.length} failed again` : '';
  return `${sent.length} sent${ends}, ${skipped.length} skipped, ${left.length} left`;
}

function failedLines({ failedAgain }: ReplayEnd): readonly string[] {
  const listed = failedAgain
    .slice(0, MAX_LISTED)
    .map(
      ({ envelopeId, actor, reason }) =>
        `  failed again: ${oneLine(envelopeId)} at ${oneLine(actor, 63)}, ${oneLine(reason, 30)}`,
    );
  return [...listed, ...moreLine('failed again', failedAgain.length)];
}

function skippedLines(skipped: readonly Skipped[]): readonly string[] {
  const before = skipped.filter(({ isReplayedBefore }) => isReplayedBefore === true);
  const others = skipped.filter(
    ({ isReplayedBefore, target }) => isReplayedBefore !== true && target === undefined,
  );
  const [one] = before;
  const again =
    one === undefined
      ? []
      : before.length === 1
        ? [`  not sent: ${skippedText(one)}; --again sends it again`]
        : [`  not sent: ${before.length} were replayed before; --again sends them again`];
  return [
    ...others.slice(0, MAX_LISTED).map((other) => `  not sent: ${skippedText(other)}`),
    ...moreLine('not sent', others.length),
    ...unreachableLines(skipped),
    ...again,
  ];
}

/** One line per target that cannot be sent to: how many failures are affected, why, and what to do. */
export function unreachableLines(
  skipped: readonly Pick<Skipped, 'problem' | 'target' | 'isQueueMissing'>[],
): readonly string[] {
  const byTarget = Map.groupBy(
    skipped.filter(({ target }) => target !== undefined),
    ({ target }) => target,
  );
  return [...byTarget].map(([target, all]) => {
    const [{ problem, isQueueMissing } = { problem: '' }] = all;
    const fix = isQueueMissing
      ? 'deploy the actor, or name another with --to'
      : 'fix this and run the same command again, or name another actor with --to';
    return `  not sent: ${all.length} for "${target}" (${oneLine(problem)}): ${fix}`;
  });
}

/** The target of a failure that was not sent: `withoutQueue` if its queue is missing, else `refusedAt`. */
export function unreachableJson({
  target,
  isQueueMissing,
}: Pick<Skipped, 'target' | 'isQueueMissing'>): Readonly<Record<string, string>> {
  if (target === undefined) return {};
  return isQueueMissing ? { withoutQueue: target } : { refusedAt: target };
}

function skippedText({ failure, problem }: Skipped): string {
  return `${oneLine(failure.envelopeId)}: ${oneLine(problem)}`;
}

function moreLine(what: string, count: number): readonly string[] {
  return count > MAX_LISTED ? [`  ${what}: … and ${count - MAX_LISTED} more; --json lists all of them`] : [];
}

export function endJson(end: ReplayEnd, replayId: string): Readonly<Record<string, unknown>> {
  const { why, problem, sent, skipped, left, endedWell, failedAgain } = end;
  const idOf = ({ envelopeId }: { readonly envelopeId: string }) => envelopeId;
  return {
    replay: replayId,
    why,
    ...defined({ problem }),
    sent: sent.map(idOf),
    endedWell: endedWell.map(idOf),
    failedAgain: failedAgain.map(idOf),
    skipped: skipped.map((one) => ({
      id: one.failure.envelopeId,
      problem: one.problem,
      ...unreachableJson(one),
    })),
    left: left.map(idOf),
  };
}
