import { batcher } from '../../async/batcher.ts';
import type { ProgressReport, StepReport } from '../../core/task/report.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Progress } from '../../ports/reports.ts';
import { type GatewayAddress, type PostReports, signedPost } from './signed-post.ts';

export interface ProgressOptions {
  readonly clock: Clock;
  /** Called with the first problem of each outage. */
  readonly onProblem: (problem: string) => void;
  readonly post?: PostReports;
}

/** The longest an envelope waits for the gateway's answer. */
const WAIT_MS = 250;
/** After an answer was late, no envelope waits for this long, so waiting costs less than 1 % of the time. */
const NO_WAIT_MS = 30_000;
/** After an answer slower than this, no envelope waits for ten times as long as the answer took. */
const SLOW_MS = 100;
const SLOW_FACTOR = 10;
/** Timeout of a request, including requests that no envelope waits for. */
const REQUEST_MS = 2_000;
const LINGER_MS = 20;
const MAX_IN_REQUEST = 100;
/** If the gateway hangs, the oldest reports are dropped. */
const MAX_QUEUED = 1_000;
const FLUSH_MS = 250;
const MAX_REMEMBERED = 1_000;

/**
 * Sends progress reports in batches, one request at a time: this is enough for many envelopes, and a gateway that hangs
 * occupies a single connection.
 */
export function gatewayProgress(gateway: GatewayAddress, options: ProgressOptions): Progress {
  const { clock, onProblem, post = signedPost(gateway, clock.now) } = options;
  const canceledTasks = new Set<string>();
  let noWaitUntil = 0;
  let isHung = false;
  let isFailing = false;
  /** Resolves for each report with whether its task was canceled. */
  const batches = batcher<StepReport | ProgressReport, boolean>({
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

  /** Resolves with the tasks that the gateway reports as canceled. */
  async function send(reports: readonly (StepReport | ProgressReport)[]): Promise<ReadonlySet<string>> {
    const sentAt = clock.now();
    const answer = await post(reports, AbortSignal.timeout(REQUEST_MS));
    if ('problem' in answer) {
      if (!isFailing) onProblem(answer.problem);
      isFailing = true;
      return new Set();
    }
    const { canceled } = answer;
    isFailing = false;
    const tookMs = clock.now() - sentAt;
    if (isHung) noWaitUntil = pauseAfter(tookMs > SLOW_MS ? WAIT_MS : 0);
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
    noWaitUntil = clock.now() + NO_WAIT_MS;
  }

  function pauseAfter(tookMs: number): number {
    return tookMs > SLOW_MS ? clock.now() + tookMs * SLOW_FACTOR : 0;
  }

  return {
    arrived: async (report) => {
      // Known from an earlier answer, which may have arrived too late for its own envelope.
      if (canceledTasks.has(report.task)) return true;
      if (clock.now() < noWaitUntil) {
        batches.add(report);
        batches.flush();
        return false;
      }
      const sentAt = clock.now();
      const over = new AbortController();
      const answer = batches.add(report);
      batches.flush();
      const late = clock.sleep(WAIT_MS, over.signal).then(() => undefined);
      const isCanceled = await Promise.race([answer, late]);
      over.abort();
      if (isCanceled === undefined) giveUp();
      else noWaitUntil = pauseAfter(clock.now() - sentAt);
      return isCanceled ?? false;
    },
    note: async (report) => {
      await batches.add(report);
    },
    flush: async () => {
      if (batches.size === 0) return;
      batches.flush();
      // Do not wait for a gateway that recently did not answer in time.
      if (clock.now() < noWaitUntil) return;
      const over = new AbortController();
      const late = clock.sleep(FLUSH_MS, over.signal).then(() => true);
      const isLate = await Promise.race([batches.drain().then(() => false), late]);
      over.abort();
      if (isLate) giveUp();
    },
  };
}
