import type { FunctionPlan } from '../../config/plan/function-plan.ts';
import { writeEnvironment } from '../../config/settings/write-environment.ts';

/** Whether an actor has to be restarted to run with the new plan. */
export function needsRestart(running: FunctionPlan | undefined, planned: FunctionPlan): boolean {
  return running === undefined || textOf(running) !== textOf(planned);
}

/** Labels are excluded, because only a deployment uses them. The configuration is written as variables, because Maps and Sets have no JSON form. */
function textOf({ config, labels: _labels, ...rest }: FunctionPlan): string {
  return JSON.stringify([rest, writeEnvironment(config)]);
}
