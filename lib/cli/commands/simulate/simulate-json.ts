import type { Simulation } from '../../../app/simulation/simulation.ts';
import { defined } from '../../../core/text/defined.ts';
import { timestampText } from '../../../core/text/timestamp.ts';
import type { Staged } from './simulate-scenario.ts';

/** For scripts. Times are milliseconds from the start; rules are counted from 0, as in `status.decided_by`. */
export function simulationJson(
  { flow, route, timeoutMs, scenario, seed }: Staged,
  { steps, end, deadline, requests }: Simulation,
): unknown {
  return {
    ...defined({ flow }),
    route,
    ...defined({ timeoutMs }),
    startsAt: timestampText(scenario.startMs),
    ...defined({ seed }),
    steps,
    end,
    deadline,
    requests: { ...requests, total: requests.sends + requests.receives + requests.deletes },
  };
}
