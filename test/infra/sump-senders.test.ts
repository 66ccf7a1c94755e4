import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AccountPrincipal, Role } from 'aws-cdk-lib/aws-iam';
import { expect, test } from 'vitest';
import { ROOT } from '../sidecar/sidecar-process.ts';
import { aMeshInCode, jsonOf } from './a-mesh-in-code.ts';
import {
  DEV_WITH_GATEWAY,
  functionOf,
  LETTERS,
  manifestIn,
  rolesThatMaySendTo,
  type TemplateJson,
  templateOf,
} from './a-mesh-stack.ts';

/** Which roles may send to x-sump, and that docs/deploy.md lists the same roles. */

function roleOf(template: TemplateJson, actor: string): string {
  return functionOf(template, actor).Properties.Role['Fn::GetAtt'][0];
}

test('in a mesh with a gateway, only x-sink and x-sump may send to x-sump', () => {
  const template = templateOf(manifestIn(LETTERS), { environment: DEV_WITH_GATEWAY });
  const senders = rolesThatMaySendTo(template, 'asya-dev-letters-x-sump');
  expect(senders).toEqual(['x-sink', 'x-sump'].map((actor) => roleOf(template, actor)).sort());
});

test('a role with grantOperate may send to x-sump too, but no actor may', () => {
  const { mesh, stack } = aMeshInCode();
  mesh.addActor('score', { handler: 'score.ts.score' });
  mesh.addFlow('main', { entrypoint: 'score' });
  mesh.addGateway();
  const operator = new Role(stack, 'Operator', { assumedBy: new AccountPrincipal('111122223333') });
  mesh.grantOperate(operator);
  const template = jsonOf(stack);
  const operatorId = stack.getLogicalId(operator.node.defaultChild as never);
  expect(rolesThatMaySendTo(template, 'asya-dev-hand-x-sump')).toEqual(
    [operatorId, roleOf(template, 'x-sink'), roleOf(template, 'x-sump')].sort(),
  );
});

test('docs/deploy.md lists these roles', () => {
  const page = readFileSync(join(ROOT, 'docs/deploy.md'), 'utf8').replace(/\s+/g, ' ');
  expect(page).toContain('Only x-sink, x-sump and roles with `mesh.grantOperate` may send to x-sump');
});
