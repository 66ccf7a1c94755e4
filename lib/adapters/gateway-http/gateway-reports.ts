import type { Reports } from '../../ports/reports.ts';
import { type GatewayAddress, signedPost } from './signed-post.ts';

/** What telling may cost, at most. */
const BUDGET_MS = 2_000;
/** After a report that was not answered in time, for so long nobody else waits that long. */
const GIVEN_UP_MS = 30_000;
const BUDGET_GIVEN_UP_MS = 100;

/** Reports over HTTP to the gateway; without an address there is nobody to tell. */
export function gatewayReports(gateway: GatewayAddress | undefined, now: () => number = Date.now): Reports {
  if (gateway === undefined) return { tell: () => Promise.resolve(undefined) };
  const post = signedPost(gateway, now);
  let givenUpUntil = 0;
  return {
    tell: async (report) => {
      const signal = AbortSignal.timeout(now() < givenUpUntil ? BUDGET_GIVEN_UP_MS : BUDGET_MS);
      const answer = await post([report], signal);
      if (signal.aborted) givenUpUntil = now() + GIVEN_UP_MS;
      if ('problem' in answer) return answer.problem;
      givenUpUntil = 0;
      return undefined;
    },
  };
}
