import type { Simulation } from '../../../app/simulation/simulation.ts';
import { timestampText } from '../../../core/text/timestamp.ts';
import type { Staged } from './simulate-scenario.ts';

/** For scripts. Times are milliseconds from the start; rules are counted from 0, as in `status.decided_by`. */
export function simulationJson(
  { flow, route, timeoutMs, scenario, seed }: Staged,
  { steps, end, deadline, requests }: Simulation,
): unknown {
  return {
    ...(flow === undefined ? {} : { flow }),
    route,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    startsAt: timestampText(scenario.startMs),
    ...(seed === undefined ? {} : { seed }),
    steps,
    end,
    deadline,
    requests: { ...requests, total: requests.sends + requests.receives + requests.deletes },
  };
}
