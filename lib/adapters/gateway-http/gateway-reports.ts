import type { Report } from '../../core/task/report.ts';
import type { Reports } from '../../ports/reports.ts';
import { type GatewayAddress, type PostReports, signedPost } from './signed-post.ts';

/** What telling may cost, at most. */
const BUDGET_MS = 2_000;
/** After a report that was not answered in time, for so long nobody else waits that long. */
const SHORT_BUDGET_PERIOD_MS = 30_000;
const SHORT_BUDGET_MS = 100;

/** An error's words come along, and a request has 1 MiB at the most. */
const MAX_IN_REQUEST = 20;

interface Queued {
  readonly report: Report;
  readonly resolve: (problem: string | undefined) => void;
}

/**
 * Reports over HTTP to the gateway; without an address there is nobody to tell. One request at a time, and what comes
 * meanwhile goes together: the ends of one fan-out come all at once, and each request writes the same item.
 */
export function gatewayReports(
  gateway: GatewayAddress | undefined,
  now: () => number = Date.now,
  given?: PostReports,
): Reports {
  if (gateway === undefined) return { report: () => Promise.resolve(undefined) };
  const post = given ?? signedPost(gateway, now);
  const waiting: Queued[] = [];
  let isUnderWay = false;
  let givenUpUntil = 0;

  async function tellTogether(reports: readonly Report[]): Promise<string | undefined> {
    const signal = AbortSignal.timeout(now() < givenUpUntil ? SHORT_BUDGET_MS : BUDGET_MS);
    const answer = await post(reports, signal);
    if (signal.aborted) givenUpUntil = now() + SHORT_BUDGET_PERIOD_MS;
    if ('problem' in answer) return answer.problem;
    givenUpUntil = 0;
    return undefined;
  }

  async function send(): Promise<void> {
    isUnderWay = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, MAX_IN_REQUEST);
      const problem = await tellTogether(batch.map(({ report }) => report));
      for (const { resolve } of batch) resolve(problem);
    }
    isUnderWay = false;
  }

  return {
    report: (report) =>
      new Promise((resolve) => {
        waiting.push({ report, resolve });
        if (!isUnderWay) void send();
      }),
  };
}
