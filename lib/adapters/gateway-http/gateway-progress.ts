import { batcher } from '../../async/batcher.ts';
import { realTimeouts, type Timeouts } from '../../async/timeouts.ts';
import type { ProgressReport, StepReport } from '../../core/task/report.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Progress } from '../../ports/reports.ts';
import { answerTimeout } from './answer-timeout.ts';
import { canceledTasks } from './canceled-tasks.ts';
import type { PostReports } from './signed-post.ts';

export interface ProgressOptions {
  readonly clock: Clock;
  readonly post: PostReports;
  /** Called with the first problem of each outage. */
  readonly onProblem: (problem: string) => void;
  readonly timeouts?: Timeouts;
}

/**
 * A call that is over by then is not reported on its own: the next report about the envelope contains that it passed this
 * actor. Most calls are shorter, and each report is a write.
 */
const REPORT_AFTER_MS = 1_000;
/** An answer is recent for this long: then the gateway is asked again which tasks were canceled. */
const RECENT_MS = 2_000;
/** The longest that a host waits for its last reports before it may be suspended. */
const FLUSH_MS = 250;
/** After an answer was late, no host waits for this long, so waiting costs less than 1 % of the time. */
const NO_WAIT_MS = 30_000;
/** After an answer slower than this, no host waits for ten times as long as the answer took. */
const SLOW_MS = 100;
const SLOW_FACTOR = 10;
/** Timeout of a request. No envelope waits for it. */
const REQUEST_MS = 2_000;
const LINGER_MS = 20;
const MAX_IN_REQUEST = 100;
/** If the gateway hangs, the oldest reports are dropped. */
const MAX_QUEUED = 1_000;

/**
 * Sends progress reports in batches, one request at a time: this is enough for many envelopes, and a gateway that hangs
 * occupies a single connection. No envelope waits for an answer.
 */
export function gatewayProgress({
  clock,
  post,
  onProblem,
  timeouts = realTimeouts,
}: ProgressOptions): Progress {
  const canceled = canceledTasks();
  // A process that has just started has more urgent work than to ask.
  let askAfter = clock.now() + RECENT_MS;
  let noWaitUntil = 0;
  let isFailing = false;
  const batches = batcher<StepReport | ProgressReport, void>({
    run: async (reports) => {
      const problem = await send(reports);
      if (problem !== undefined && !isFailing) onProblem(problem);
      isFailing = problem !== undefined;
      // Reports that arrived meanwhile leave with the next request, without lingering.
      batches.flush();
      return reports.map(() => undefined);
    },
    maxItems: MAX_IN_REQUEST,
    lingerMs: LINGER_MS,
    keepsProcessAlive: false,
    overflow: { maxWaiting: MAX_QUEUED, result: undefined },
  });

  async function send(reports: readonly (StepReport | ProgressReport)[]): Promise<string | undefined> {
    askAfter = clock.now() + RECENT_MS;
    const answer = await post(reports, answerTimeout(REQUEST_MS));
    if ('problem' in answer) {
      askAfter = clock.now() + NO_WAIT_MS;
      return answer.problem;
    }
    canceled.add(answer.canceled);
    return undefined;
  }

  function refresh(): void {
    // A problem is not logged: nothing is lost, and the next report shows whether it is an outage.
    if (clock.now() >= askAfter) void send([]);
  }

  const note: Progress['note'] = (report) => batches.add(report);

  return {
    isCanceled: canceled.has,
    refresh,
    note,
    follow: (report) => {
      let stop = timeouts.start(REPORT_AFTER_MS, () => {
        const made = report();
        if (made !== undefined) void note(made);
        askLater();
      });
      function askLater(): void {
        stop = timeouts.start(Math.max(RECENT_MS, askAfter - clock.now()), () => {
          refresh();
          askLater();
        });
      }
      return () => stop();
    },
    flush: async () => {
      if (batches.size === 0) return;
      batches.flush();
      const startedAt = clock.now();
      if (startedAt < noWaitUntil) return;
      const over = new AbortController();
      const late = clock.sleep(FLUSH_MS, over.signal).then(() => true);
      const isLate = await Promise.race([batches.drain().then(() => false), late]);
      over.abort();
      const tookMs = clock.now() - startedAt;
      if (isLate) noWaitUntil = clock.now() + NO_WAIT_MS;
      else if (tookMs > SLOW_MS) noWaitUntil = clock.now() + tookMs * SLOW_FACTOR;
    },
  };
}
