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

test('restarts an actor if its environment or timeout changes', () => {
  const plan = planOf('{name: score}');
  expect(needsRestart(undefined, plan)).toBe(true);
  expect(needsRestart(plan, planOf('{name: score}'))).toBe(false);
  expect(needsRestart(plan, planOf('{name: score}', 'environment: {A: b}'))).toBe(true);
  expect(needsRestart(plan, planOf('{name: score}', 'resiliency: {actorTimeout: 1s}'))).toBe(true);
});

test('does not restart an actor if only its labels change', () => {
  const plan = planOf('{name: score, labels: {team: vision}}');
  expect(plan.labels).toEqual({ team: 'vision' });
  expect(needsRestart(plan, planOf('{name: score, labels: {team: audio}}'))).toBe(false);
  expect(needsRestart(plan, planOf('{name: score}'))).toBe(false);
  expect(needsRestart(planOf('{name: score}'), plan)).toBe(false);
});
