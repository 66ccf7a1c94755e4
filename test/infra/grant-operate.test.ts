import { App, Stack } from 'aws-cdk-lib';
import { AccountPrincipal, Role } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { expect, test } from 'vitest';
import { ActorMesh } from '../../infra/constructs/actor-mesh.ts';
import { aMeshInCode, jsonOf } from './a-mesh-in-code.ts';
import {
  FLAGS,
  permissionsOfRole,
  queueNamed,
  resourcesOf,
  STUB_CODE,
  type TemplateJson,
} from './a-mesh-stack.ts';

/** What `mesh.grantOperate(role)` allows an operator who runs `asya failures`, `asya replay` and `asya purge`. */

function operatorIn(stack: Stack): Role {
  return new Role(stack, 'Operator', { assumedBy: new AccountPrincipal('111122223333') });
}

function anOperatedMesh() {
  const { mesh, stack } = aMeshInCode();
  return { mesh, stack, operator: operatorIn(stack) };
}

/** The queues and other resources on which the operator's role allows the action. */
function operatorMay(template: TemplateJson, action: string): readonly string[] {
  const role = resourcesOf(template, 'AWS::IAM::Role').find(({ id }) => id.startsWith('Operator'));
  return permissionsOfRole(template, role?.id ?? '')
    .filter((permission) => permission.action === action)
    .map(({ resource }) => resource.replace('asya-dev-hand-', ''))
    .sort();
}

test('a replay can look up and send to the actors and the crew', () => {
  const { mesh, stack, operator } = anOperatedMesh();
  mesh.addActor('score', { handler: 'score.ts.score' });
  mesh.grantOperate(operator);
  const template = jsonOf(stack);
  expect(operatorMay(template, 'sqs:SendMessage')).toEqual(['score', 'x-sink', 'x-sump']);
  expect(operatorMay(template, 'sqs:GetQueueUrl')).toEqual(['score', 'x-sink', 'x-sump']);
  for (const action of ['sqs:ReceiveMessage', 'sqs:DeleteMessage'])
    expect(operatorMay(template, action)).toEqual([]);
});

test("a replay can look up the queue of the gateway's timers, but cannot send to it", () => {
  const { mesh, stack, operator } = anOperatedMesh();
  mesh.addGateway();
  mesh.grantOperate(operator);
  const template = jsonOf(stack);
  expect(operatorMay(template, 'sqs:GetQueueUrl')).toEqual(['x-gateway', 'x-sink', 'x-sump']);
  expect(operatorMay(template, 'sqs:SendMessage')).toEqual(['x-sink', 'x-sump']);
});

test('actors and a gateway that are added after the grant are included', () => {
  const { mesh, stack, operator } = anOperatedMesh();
  mesh.grantOperate(operator);
  mesh.addActor('score', { handler: 'score.ts.score' });
  mesh.addGateway();
  const template = jsonOf(stack);
  expect(operatorMay(template, 'sqs:SendMessage')).toEqual(['score', 'x-sink', 'x-sump']);
  expect(operatorMay(template, 'sqs:GetQueueUrl')).toEqual(['score', 'x-gateway', 'x-sink', 'x-sump']);
});

test('with an encryption key, the operator may use only that key', () => {
  const app = new App({ context: FLAGS });
  const stack = new Stack(app, 'Stack');
  const encryptionKey = new Key(stack, 'Key');
  const mesh = new ActorMesh(stack, 'Mesh', { namespace: 'dev-hand', code: STUB_CODE, encryptionKey });
  mesh.grantOperate(operatorIn(stack));
  const template = jsonOf(stack);
  const key = resourcesOf(template, 'AWS::KMS::Key')[0]?.id;
  for (const name of ['x-sink', 'x-sump'])
    expect(queueNamed(template, `asya-dev-hand-${name}`).Properties.KmsMasterKeyId).toEqual({
      'Fn::GetAtt': [key, 'Arn'],
    });
  for (const action of ['kms:GenerateDataKey', 'kms:Decrypt'])
    expect(new Set(operatorMay(template, action))).toEqual(new Set([key]));
});
