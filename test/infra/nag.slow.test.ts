import { Stack, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { expect, test } from 'vitest';
import { ActorMesh } from '../../infra/constructs/actor-mesh.ts';
import { ACKNOWLEDGED_OF_GATEWAY, acknowledgedIn } from '../../infra/stacks/acknowledged.ts';
import { anApp, DEV_WITH_GATEWAY, LETTERS, manifestIn, STUB_CODE, stackOf } from './a-mesh-stack.ts';

/** cdk-nag's AwsSolutions over a whole mesh. */

test('no finding is left unexplained', async () => {
  const { app } = await anApp();
  const checks = new AwsSolutionsChecks(app);
  Validations.of(app).addPlugins(checks);
  const stack = stackOf(manifestIn(LETTERS), { app, environment: DEV_WITH_GATEWAY });
  expect(checks.validateScope(stack).violations).toEqual([]);
  expect(() => app.synth()).not.toThrow();
});

test('nothing is explained that is not found', async () => {
  const { app } = await anApp();
  const stack = new Stack(app, 'Plain');
  const mesh = new ActorMesh(stack, 'Mesh', {
    namespace: 'dev-letters',
    manifest: manifestIn(LETTERS),
    code: STUB_CODE,
  });
  mesh.addGateway();
  const { violations } = new AwsSolutionsChecks(app).validateScope(stack);
  const found = [...new Set(violations.map(({ ruleName }) => ruleName))];
  expect(found.sort()).toEqual(
    [...acknowledgedIn(mesh.crew), ...ACKNOWLEDGED_OF_GATEWAY].map(({ id }) => id).sort(),
  );
});
