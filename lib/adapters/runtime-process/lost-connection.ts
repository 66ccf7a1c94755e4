import type { CallResult } from '../../core/delivery/outcome.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Child } from './child.ts';
import { type Ending, exitText } from './exit-text.ts';

/** How long after a lost connection the exit of the process is expected: the shell around it may end slowly. */
const EXIT_NOTICE_MS = 5_000;

/** The process that was called. */
interface Called extends Ending {
  readonly child?: Child;
  /** Aborted when the process has ended. */
  readonly over: AbortController;
}

/** Replaces the problem of a lost connection by how the process ended, if it ends. Waits for that at most until `until`. */
export async function withExitReason(
  answer: CallResult,
  called: Called,
  until: number,
  { clock, interrupted }: { readonly clock: Clock; readonly interrupted: AbortSignal },
): Promise<CallResult> {
  if (answer.kind !== 'unreachable' || !(answer.isLost || answer.isUnsent)) return answer;
  const last = Math.min(until, clock.now() + EXIT_NOTICE_MS);
  await clock.sleep(last - clock.now(), AbortSignal.any([called.over.signal, interrupted]));
  if (called.exitReason === undefined) return answer;
  // Its last output belongs to this call.
  const read = new AbortController();
  const over = AbortSignal.any([read.signal, interrupted]);
  await Promise.race([called.child?.gone, clock.sleep(last - clock.now(), over)]);
  read.abort();
  return { ...answer, detail: `${exitText(called)} during the call` };
}
