import { expect, test } from 'vitest';
import type { FunctionPlan } from '../../../lib/config/plan/function-plan.ts';
import { planMesh } from '../../../lib/config/plan/mesh-plan.ts';
import { needsRestart } from '../../../lib/local/mesh/needs-restart.ts';
import { manifestOf, python } from '../../config/manifest/a-mesh.ts';

/** Which changes of a document restart a local actor. */

function planOf(metadata: string, ...spec: readonly string[]): FunctionPlan {
  const text = python('score', ...spec).replace('metadata: {name: score}', `metadata: ${metadata}`);
  const [plan] = planMesh(manifestOf({ 'score.yaml': text }), { region: 'local', storage: {} }).functions;
  if (plan === undefined) throw new Error('no function was planned');
  return plan;
}

test('a plan differs from another one by what the actor runs with', () => {
  const plan = planOf('{name: score}');
  expect(needsRestart(undefined, plan)).toBe(true);
  expect(needsRestart(plan, planOf('{name: score}'))).toBe(false);
  expect(needsRestart(plan, planOf('{name: score}', 'environment: {A: b}'))).toBe(true);
  expect(needsRestart(plan, planOf('{name: score}', 'resiliency: {actorTimeout: 1s}'))).toBe(true);
});

test('labels are in the plan, and a change of them does not restart a local actor', () => {
  const plan = planOf('{name: score, labels: {team: vision}}');
  expect(plan.labels).toEqual({ team: 'vision' });
  expect(needsRestart(plan, planOf('{name: score, labels: {team: audio}}'))).toBe(false);
  expect(needsRestart(plan, planOf('{name: score}'))).toBe(false);
  expect(needsRestart(planOf('{name: score}'), plan)).toBe(false);
});
