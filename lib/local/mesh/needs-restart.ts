import type { FunctionPlan } from '../../config/plan/function-plan.ts';
import { writeEnvironment } from '../../config/settings/write-environment.ts';

/** Whether an actor has to be restarted to run with the new plan. */
export function needsRestart(running: FunctionPlan | undefined, planned: FunctionPlan): boolean {
  return running === undefined || textOf(running) !== textOf(planned);
}

/** Without the labels, which only a deployment uses. The configuration as variables: Maps and Sets have no JSON. */
function textOf({ config, labels: _labels, ...rest }: FunctionPlan): string {
  return JSON.stringify([rest, writeEnvironment(config)]);
}
