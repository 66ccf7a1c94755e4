import { deriveId, systemClock } from '../../../adapters/system/system.ts';
import { followRun, type RunEnd } from '../../../app/runs/follow-run.ts';
import type { EndRecord } from '../../../core/failure/record.ts';
import { EXIT } from '../../exit-status.ts';
import type { Operator } from '../../operator.ts';
import { countText } from '../../output/count-text.ts';
import { endLine, errorLines } from '../../output/error-lines.ts';
import { missingText } from '../../output/missing-text.ts';
import { escaped, oneLine, shellWord } from '../../output/plain-text.ts';
import type { Terminal } from '../../output/terminal.ts';

const POLL_INTERVAL_MS = 200;

/**
 * Waits until an envelope and all its fan-out children have ended. Prints each end as it is found: the final payloads to
 * stdout, one per line, and everything else to stderr.
 */
export async function awaitRun(
  id: string,
  waitMs: number,
  { stores }: Operator,
  { print, printError, now, stop: stopSignal }: Terminal,
): Promise<number> {
  const deadline = Date.now() + waitMs;
  const stop = stopSignal();
  // x-sump indexes a failure shortly after x-sink records the end. The hint must not point to a missing entry.
  const isReady = async (record: EndRecord): Promise<boolean> => {
    if (!isInIndex(record) || Date.now() >= deadline) return true;
    const page = await stores.failures.ofEnvelope(record.envelopeId);
    return !page.ok || page.failures.length > 0;
  };
  const run = followRun(id, { ...stores, deriveId, now, isReady });
  let failed = 0;
  let succeeded = 0;
  for (;;) {
    const isLate = Date.now() >= deadline;
    const found = await run.refresh();
    if (!found.ok) {
      printError(`asya: ${oneLine(id)}: ${oneLine(found.problem)}`);
      return EXIT.failed;
    }
    for (const one of found.ends) {
      const hasFamily = run.childrenOf(id).length > 0;
      if (one.record.end === 'succeeded') {
        succeeded++;
        const { record, envelope } = one;
        const note = envelope === undefined ? `; ${missingText(record)}` : '';
        if (hasFamily || envelope === undefined) printError(`${nameOf(one, id)} ${endLine(record)}${note}`);
        if (envelope !== undefined) print(escaped(envelope.payload));
      } else {
        failed++;
        printError(notSucceededText(one));
      }
    }
    const open = run.open();
    if (open.length === 0) break;
    if (stop.aborted) return EXIT.interrupted;
    // One more round after the time is up, for children that became known in the last one.
    if (isLate && found.ends.length === 0) {
      printError(notEndedText(id, open));
      return EXIT.failed;
    }
    await systemClock.sleep(found.ends.length > 0 ? 0 : POLL_INTERVAL_MS, stop);
  }
  if (succeeded + failed > 1)
    printError(
      `${countText(succeeded + failed, 'envelope')} ended: ${succeeded} succeeded, ${failed} did not`,
    );
  return failed === 0 ? EXIT.ok : EXIT.failed;
}

function nameOf({ record }: RunEnd, root: string): string {
  const id = oneLine(record.envelopeId);
  return record.envelopeId === root ? id : `${id} (child)`;
}

/** The end of an envelope that did not succeed, with its error and where to find more. */
function notSucceededText({ record, envelope }: RunEnd): string {
  const id = oneLine(record.envelopeId);
  const head = `asya: ${id} ${endLine(record, envelope)}`;
  if (record.end !== 'failed') return head;
  return [
    head,
    ...errorLines(envelope).map((line) => `  ${line}`),
    ...(isInIndex(record) ? [`  for details run asya failures show ${shellWord(id)}`] : []),
  ].join('\n');
}

function notEndedText(id: string, open: readonly string[]): string {
  const what = open.length === 1 && open[0] === id ? 'not ended yet' : `${open.length} not ended yet`;
  return `asya: ${oneLine(id)}: ${what}; follow it with asya watch ${shellWord(oneLine(id))}, or pass a longer --timeout`;
}

/** x-sump does not index dropped envelopes. */
function isInIndex({ end, reason }: EndRecord): boolean {
  return end === 'failed' && reason !== 'Dropped';
}
