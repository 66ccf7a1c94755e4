import type { SimulatedStep, Simulation } from '../../../app/simulation/simulation.ts';
import { defined } from '../../../core/text/defined.ts';
import { timestampText } from '../../../core/text/timestamp.ts';
import type { SimulationPlan } from './simulate-scenario.ts';

/** The output of `--json`. Times are milliseconds since the start; rules count from 0, as in `status.decided_by`. */
export function simulationJson(
  { flow, route, timeoutMs, scenario, seed }: SimulationPlan,
  { steps, end, deadline, requests }: Simulation,
): unknown {
  return {
    ...defined({ flow }),
    route,
    ...defined({ timeoutMs }),
    startsAt: timestampText(scenario.startMs),
    ...defined({ seed }),
    steps: steps.map(stepJson),
    end,
    deadline,
    requests: { ...requests, total: requests.sends + requests.receives + requests.deletes },
  };
}

/** There is one envelope, so its steps and sends do not name it. */
function stepJson({ envelopeId: _id, ...step }: SimulatedStep): unknown {
  return { ...step, sends: step.sends.map(({ envelope: _envelope, ...send }) => send) };
}
