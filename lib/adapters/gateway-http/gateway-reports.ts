import { batcher } from '../../async/batcher.ts';
import type { Report } from '../../core/task/report.ts';
import type { Reports } from '../../ports/reports.ts';
import { answerTimeout } from './answer-timeout.ts';
import type { PostReports } from './signed-post.ts';

/** The longest time one request may take. */
const BUDGET_MS = 2_000;
/** After a request that timed out, later ones only get this shorter time, for this period. */
const SHORT_BUDGET_PERIOD_MS = 30_000;
const SHORT_BUDGET_MS = 100;

/** Reports contain error messages, and a request is limited to 1 MiB. */
const MAX_IN_REQUEST = 20;

/**
 * Sends final reports to the gateway over HTTP; without `post` it does nothing. It sends one request at a time and
 * batches the reports that arrive meanwhile or in the same turn of the event loop: the envelopes of a batch end together,
 * and the children of a fan-out all update the same item.
 */
export function gatewayReports(post: PostReports | undefined, now: () => number = Date.now): Reports {
  if (post === undefined) return { report: () => Promise.resolve(undefined) };
  const send = post;
  let shortBudgetUntil = 0;
  const batches = batcher<Report, string | undefined>({
    run: async (reports) => {
      const late = answerTimeout(now() < shortBudgetUntil ? SHORT_BUDGET_MS : BUDGET_MS);
      const answer = await send(reports, late);
      if (late.aborted) shortBudgetUntil = now() + SHORT_BUDGET_PERIOD_MS;
      else if (!('problem' in answer)) shortBudgetUntil = 0;
      const problem = 'problem' in answer ? answer.problem : undefined;
      return reports.map(() => problem);
    },
    maxItems: MAX_IN_REQUEST,
  });
  return { report: (report) => batches.add(report) };
}
