import { App, Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { expect, test } from 'vitest';
import { bucketReference } from '../../lib/config/manifest/access.ts';
import { actorText, manifestOf } from '../config/manifest/a-mesh.ts';
import { aMeshInCode, jsonOf } from './a-mesh-in-code.ts';
import {
  functionOf,
  permissionsOf,
  permissionsOfRole,
  resourcesOf,
  type TemplateJson,
  templateOf,
} from './a-mesh-stack.ts';

const PERMISSIONS = [
  'buckets: [pictures]',
  'permissions:',
  `  - {actions: ['s3:PutObject'], resources: ['${bucketReference('pictures', '/enhanced/*')}']}`,
  "  - {actions: ['bedrock:InvokeModel'], resources: ['arn:aws:bedrock:*::foundation-model/*']}",
];

function aMesh(...more: readonly string[]): TemplateJson {
  return templateOf(
    manifestOf({
      'a.yaml': actorText('upload', 'handler: upload.ts.upload', ...more),
      'b.yaml': actorText('plain', 'handler: plain.ts.plain'),
    }),
  );
}

/** The logical id of the handler's role, from the variable that the sidecar reads. */
function handlerRoleOf(template: TemplateJson, actor: string): string | undefined {
  const { ASYA_RUNTIME_ROLE_ARN: arn } = functionOf(template, actor).Properties.Environment.Variables;
  return arn?.['Fn::GetAtt'][0];
}

function sidecarRoleOf(template: TemplateJson, actor: string): string {
  return functionOf(template, actor).Properties.Role['Fn::GetAtt'][0];
}

test('permissions apply to a role of the handler, not to the role of the function', () => {
  const template = aMesh(...PERMISSIONS);
  const role = handlerRoleOf(template, 'upload') ?? '';
  const [bucket] = resourcesOf(template, 'AWS::S3::Bucket').filter(({ id }) => id.includes('pictures'));
  expect(permissionsOfRole(template, role)).toEqual([
    { action: 's3:PutObject', resource: `${bucket?.id}/enhanced/*` },
    { action: 'bedrock:InvokeModel', resource: 'arn:aws:bedrock:*::foundation-model/*' },
  ]);
  const ofFunction = permissionsOf(template, 'upload');
  expect(ofFunction.filter(({ action }) => /^(s3|bedrock):/.test(action))).toEqual([]);
  expect(ofFunction.filter(({ action }) => action.startsWith('sts:'))).toEqual([
    { action: 'sts:AssumeRole', resource: role },
  ]);
  expect(permissionsOfRole(template, role).filter(({ action }) => action.startsWith('sqs:'))).toEqual([]);
});

test("the handler's role trusts only the role of its function", () => {
  const template = aMesh(...PERMISSIONS);
  const role = template.Resources[handlerRoleOf(template, 'upload') ?? ''];
  expect(role?.Properties.AssumeRolePolicyDocument.Statement).toEqual([
    {
      Action: 'sts:AssumeRole',
      Effect: 'Allow',
      Principal: { AWS: { 'Fn::GetAtt': [sidecarRoleOf(template, 'upload'), 'Arn'] } },
    },
  ]);
});

test('a handler without permissions has no role, and its function may assume none', () => {
  const template = aMesh(...PERMISSIONS);
  expect(handlerRoleOf(template, 'plain')).toBeUndefined();
  expect(permissionsOf(template, 'plain').filter(({ action }) => action.startsWith('sts:'))).toEqual([]);
  const roles = (mesh: TemplateJson) => resourcesOf(mesh, 'AWS::IAM::Role').length;
  expect(roles(template)).toBe(roles(aMesh()) + 1);
});

test("the function has the bucket's name, the stack has it as an output, and the bucket is private", () => {
  const template = aMesh(...PERMISSIONS);
  const [bucket] = resourcesOf(template, 'AWS::S3::Bucket').filter(({ id }) => id.includes('pictures'));
  expect(functionOf(template, 'upload').Properties.Environment.Variables).toMatchObject({
    BUCKET_PICTURES: { Ref: bucket?.id },
  });
  expect(template.Outputs['BucketPictures']?.Value).toEqual({ Ref: bucket?.id });
  expect(bucket?.Properties.PublicAccessBlockConfiguration).toEqual({
    BlockPublicAcls: true,
    BlockPublicPolicy: true,
    IgnorePublicAcls: true,
    RestrictPublicBuckets: true,
  });
});

test('actors that name the same bucket share it', () => {
  const { mesh, stack } = aMeshInCode();
  const permissions = [{ actions: ['s3:GetObject'], resources: [bucketReference('pictures', '/*')] }];
  for (const name of ['read', 'show'])
    mesh.addActor(name, { handler: `${name}.ts.run`, buckets: ['pictures'], permissions });
  const buckets = resourcesOf(jsonOf(stack), 'AWS::S3::Bucket').filter(({ id }) => id.includes('pictures'));
  expect(buckets).toHaveLength(1);
});

test("grants of other constructs reach the handler's role", () => {
  const { mesh, stack } = aMeshInCode();
  const actor = mesh.addActor('upload', { handler: 'upload.ts.upload' });
  new Bucket(stack, 'Results').grantPut(actor, 'results/*');
  actor.addToHandlerPolicy(new PolicyStatement({ actions: ['polly:SynthesizeSpeech'], resources: ['*'] }));
  const template = jsonOf(stack);
  const ofHandler = permissionsOfRole(template, handlerRoleOf(template, 'upload') ?? '');
  expect(ofHandler.map(({ action }) => action)).toEqual(
    expect.arrayContaining(['s3:PutObject', 'polly:SynthesizeSpeech']),
  );
  expect(permissionsOf(template, 'upload').map(({ action }) => action)).not.toContain('s3:PutObject');
});

test("the key of the mesh's buckets is granted to the handler", () => {
  const keyArn = 'arn:aws:kms:eu-central-1:123456789012:key/1';
  const app = new Stack(new App(), 'Keys');
  const { mesh, stack } = aMeshInCode({ encryptionKey: Key.fromKeyArn(app, 'Key', keyArn) });
  mesh.addActor('upload', {
    handler: 'upload.ts.upload',
    buckets: ['pictures'],
    permissions: [{ actions: ['s3:PutObject'], resources: [bucketReference('pictures', '/*')] }],
  });
  const template = jsonOf(stack);
  expect(permissionsOfRole(template, handlerRoleOf(template, 'upload') ?? '')).toEqual(
    expect.arrayContaining([{ action: 'kms:GenerateDataKey', resource: keyArn }]),
  );
});

test('a runtime at a url cannot be a grantee', () => {
  const { mesh, stack } = aMeshInCode();
  const actor = mesh.addActor('review', { url: 'https://review.example/' });
  expect(() => new Bucket(stack, 'Results').grantRead(actor)).toThrow(
    'the runtime of actor "review" is at a url, and the sidecar cannot give it credentials',
  );
});
