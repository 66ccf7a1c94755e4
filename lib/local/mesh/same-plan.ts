import type { FunctionPlan } from '../../config/plan/function-plan.ts';
import { writeEnvironment } from '../../config/settings/write-environment.ts';

/** Whether an actor that runs by the one plan can go on by the other one. If not, it is restarted. */
export function isSamePlan(one: FunctionPlan | undefined, other: FunctionPlan): boolean {
  return one !== undefined && textOf(one) === textOf(other);
}

/** Without the labels, which only a deployment uses. The configuration as variables: Maps and Sets have no JSON. */
function textOf({ config, labels: _labels, ...rest }: FunctionPlan): string {
  return JSON.stringify([rest, writeEnvironment(config)]);
}
