import { Stack, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { expect, test } from 'vitest';
import { ActorMesh } from '../../infra/constructs/actor-mesh.ts';
import { acknowledgedIn, GATEWAY_ACKNOWLEDGED } from '../../infra/stacks/acknowledged.ts';
import { anApp, DEV_WITH_GATEWAY, LETTERS, manifestIn, STUB_CODE, stackOf } from './a-mesh-stack.ts';

/** cdk-nag's AwsSolutions pack on a mesh with a gateway. */

test('every finding is acknowledged', async () => {
  const { app } = await anApp();
  const checks = new AwsSolutionsChecks(app);
  Validations.of(app).addPlugins(checks);
  const stack = stackOf(manifestIn(LETTERS), { app, environment: DEV_WITH_GATEWAY });
  expect(checks.validateScope(stack).violations).toEqual([]);
  expect(() => app.synth()).not.toThrow();
});

test('every acknowledgement matches a finding', async () => {
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
    [...acknowledgedIn(mesh.crew), ...GATEWAY_ACKNOWLEDGED].map(({ id }) => id).sort(),
  );
});
