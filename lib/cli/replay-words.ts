import type { ReplayEnd, ReplayOptions } from '../app/replay.ts';
import { durationText } from '../core/duration.ts';

/** How a replay ended: what was sent, what was not, and why. */
export function endWords(end: ReplayEnd, { waitMs, stages }: ReplayOptions): string {
  const { sent, skipped, left, ends } = end;
  const succeeded = ends.filter((record) => record.end === 'succeeded').length;
  const again = ends.filter((record) => record.end === 'failed');
  const lines = skipped.map(({ failure, problem }) => `  not sent: ${failure.envelopeId}: ${problem}`);
  const counts = `${sent.length} sent${stages === undefined ? '' : `, ${succeeded} succeeded, ${again.length} failed again`}, ${skipped.length} skipped, ${left.length} left`;
  switch (end.why) {
    case 'all-sent':
      return [...lines, `done: ${counts}`].join('\n');
    case 'failed-again': {
      const named = again
        .slice(0, 5)
        .map(({ envelopeId, actor, reason }) => `  failed again: ${envelopeId} at ${actor}, ${reason}`);
      return [
        ...lines,
        ...named,
        `stopped, because some failed again: ${counts}; nothing more was sent`,
      ].join('\n');
    }
    case 'no-end':
      return [
        ...lines,
        `stopped, because not all ended within ${durationText(waitMs)}: ${counts}; ${end.problem}`,
      ].join('\n');
    case 'stopped':
      return [
        ...lines,
        `stopped as you asked: ${counts}; the next would have been ${left[0]?.envelopeId ?? 'none'}`,
      ].join('\n');
    case 'refused':
      return [...lines, `stopped: ${end.problem}; ${counts}`].join('\n');
  }
}

export function endJson({ why, problem, sent, skipped, left, ends }: ReplayEnd, replayId: string): unknown {
  const idOf = ({ envelopeId }: { readonly envelopeId: string }) => envelopeId;
  return {
    replay: replayId,
    why,
    ...(problem === undefined ? {} : { problem }),
    sent: sent.map(idOf),
    succeeded: ends.filter(({ end }) => end === 'succeeded').map(idOf),
    failedAgain: ends.filter(({ end }) => end === 'failed').map(idOf),
    skipped: skipped.map(({ failure, problem: why }) => ({ id: failure.envelopeId, problem: why })),
    left: left.map(idOf),
  };
}
