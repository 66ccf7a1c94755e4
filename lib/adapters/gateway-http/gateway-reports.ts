import type { Report } from '../../core/task/report.ts';
import type { Reports } from '../../ports/reports.ts';
import { type GatewayAddress, type PostReports, signedPost } from './signed-post.ts';

/** The longest time one request may take. */
const BUDGET_MS = 2_000;
/** After a request that timed out, later ones only get this shorter time, for this period. */
const SHORT_BUDGET_PERIOD_MS = 30_000;
const SHORT_BUDGET_MS = 100;

/** Reports contain error messages, and a request is limited to 1 MiB. */
const MAX_IN_REQUEST = 20;

interface Queued {
  readonly report: Report;
  readonly resolve: (problem: string | undefined) => void;
}

/**
 * Sends final reports to the gateway over HTTP; without an address it does nothing. It sends one request at a time and
 * batches the reports that arrive meanwhile: the children of a fan-out end together, and all update the same item.
 */
export function gatewayReports(
  gateway: GatewayAddress | undefined,
  now: () => number = Date.now,
  given?: PostReports,
): Reports {
  if (gateway === undefined) return { report: () => Promise.resolve(undefined) };
  const post = given ?? signedPost(gateway, now);
  const waiting: Queued[] = [];
  let isSending = false;
  let shortBudgetUntil = 0;

  async function postBatch(reports: readonly Report[]): Promise<string | undefined> {
    const signal = AbortSignal.timeout(now() < shortBudgetUntil ? SHORT_BUDGET_MS : BUDGET_MS);
    const answer = await post(reports, signal);
    if (signal.aborted) shortBudgetUntil = now() + SHORT_BUDGET_PERIOD_MS;
    if ('problem' in answer) return answer.problem;
    shortBudgetUntil = 0;
    return undefined;
  }

  async function send(): Promise<void> {
    isSending = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MAX_IN_REQUEST);
      const problem = await postBatch(batch.map(({ report }) => report));
      for (const { resolve } of batch) resolve(problem);
    }
    isSending = false;
  }

  return {
    report: (report) =>
      new Promise((resolve) => {
        waiting.push({ report, resolve });
        if (!isSending) void send();
      }),
  };
}
