import { batcher } from '../../async/batcher.ts';
import type { StepReport } from '../../core/task/report.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Progress } from '../../ports/reports.ts';
import { type GatewayAddress, type PostReports, signedPost } from './signed-post.ts';

export interface ProgressOptions {
  readonly clock: Clock;
  /** What was not told, and why: once for each silence. */
  readonly onProblem: (problem: string) => void;
  readonly post?: PostReports;
}

/** What an envelope waits for an answer, at most. */
const WAIT_MS = 250;
/** After one that did not come, for so long nobody waits: one wait in so much time is less than a hundredth. */
const NO_WAIT_MS = 30_000;
/** A gateway that answers, but slower than this, is waited for a tenth of the time. */
const SLOW_MS = 100;
const SLOW_FACTOR = 10;
/** What a request may take that nobody waits for. */
const REQUEST_MS = 2_000;
const LINGER_MS = 20;
const MAX_IN_REQUEST = 100;
/** With a gateway that hangs, the oldest are lost. */
const MAX_QUEUED = 1_000;
const FLUSH_MS = 250;
const MAX_REMEMBERED = 1_000;

/**
 * Reports of the way, in batches. One request at a time is enough for many envelopes, and a gateway that hangs then
 * holds a single connection, whatever the sidecar does meanwhile.
 */
export function gatewayProgress(gateway: GatewayAddress, options: ProgressOptions): Progress {
  const { clock, onProblem, post = signedPost(gateway, clock.now) } = options;
  const canceledTasks = new Set<string>();
  let nobodyWaitsUntil = 0;
  let isHung = false;
  let isTroubled = false;
  /** Resolves for each report with whether its task was canceled. */
  const batches = batcher<StepReport, boolean>({
    run: async (reports) => {
      const canceled = await send(reports);
      // Reports that arrived meanwhile leave with the next request, without lingering.
      batches.flush();
      return reports.map(({ task }) => canceled.has(task));
    },
    maxItems: MAX_IN_REQUEST,
    lingerMs: LINGER_MS,
    keepsProcessAlive: false,
    overflow: { maxWaiting: MAX_QUEUED, result: false },
  });

  /** Resolves with the tasks of which the gateway reports that they were canceled. */
  async function send(reports: readonly StepReport[]): Promise<ReadonlySet<string>> {
    const askedAt = clock.now();
    const answer = await post(reports, AbortSignal.timeout(REQUEST_MS));
    if ('problem' in answer) {
      if (!isTroubled) onProblem(answer.problem);
      isTroubled = true;
      return new Set();
    }
    const { canceled } = answer;
    isTroubled = false;
    const tookMs = clock.now() - askedAt;
    if (isHung) nobodyWaitsUntil = pauseAfter(tookMs > SLOW_MS ? WAIT_MS : 0);
    isHung = false;
    for (const task of canceled) canceledTasks.add(task);
    for (const task of canceledTasks) {
      if (canceledTasks.size <= MAX_REMEMBERED) break;
      canceledTasks.delete(task);
    }
    return canceled;
  }

  function giveUp(): void {
    isHung = true;
    nobodyWaitsUntil = clock.now() + NO_WAIT_MS;
  }

  function pauseAfter(tookMs: number): number {
    return tookMs > SLOW_MS ? clock.now() + tookMs * SLOW_FACTOR : 0;
  }

  return {
    arrived: async (report) => {
      // An answer that nobody waited for is good for whoever comes next.
      if (canceledTasks.has(report.task)) return true;
      if (clock.now() < nobodyWaitsUntil) {
        batches.add(report);
        batches.flush();
        return false;
      }
      const askedAt = clock.now();
      const over = new AbortController();
      const answer = batches.add(report);
      batches.flush();
      const late = clock.sleep(WAIT_MS, over.signal).then(() => undefined);
      const isCanceled = await Promise.race([answer, late]);
      over.abort();
      if (isCanceled === undefined) giveUp();
      else nobodyWaitsUntil = pauseAfter(clock.now() - askedAt);
      return isCanceled ?? false;
    },
    note: (report) => {
      batches.add(report);
    },
    flush: async () => {
      if (batches.size === 0) return;
      batches.flush();
      // Nobody waits for one who does not answer.
      if (clock.now() < nobodyWaitsUntil) return;
      const over = new AbortController();
      const late = clock.sleep(FLUSH_MS, over.signal).then(() => true);
      const isLate = await Promise.race([batches.drain().then(() => false), late]);
      over.abort();
      if (isLate) giveUp();
    },
  };
}
