import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Moto } from './moto.ts';

export const MOTO_REGION = 'us-east-1';

/** The identities of one actor on moto, which from then on checks signatures and policies of every request. */
export interface MotoIdentities {
  /** The sidecar's own credentials: they may use the queue and assume the handler's role. */
  readonly sidecar: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly roleArn: string;
  /** A role that the sidecar may not assume. */
  readonly foreignRoleArn: string;
  readonly bucket: string;
  readonly queueUrl: string;
}

export async function motoIdentities({ endpoint, account }: Moto): Promise<MotoIdentities> {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
  const common = { endpoint, region: MOTO_REGION, credentials };
  const [s3, sqs] = [new S3Client(common), new SQSClient({ ...common, useQueueUrlAsEndpoint: false })];
  const bucket = 'pictures';
  await s3.send(new CreateBucketCommand({ Bucket: bucket }));
  const { QueueUrl: queueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: 'secrets' }));
  s3.destroy();
  sqs.destroy();

  const iam = async (Action: string, parameters: Readonly<Record<string, string>>) => {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: {
        authorization: `AWS4-HMAC-SHA256 Credential=test/20260101/${MOTO_REGION}/iam/aws4_request, SignedHeaders=host, Signature=0`,
      },
      body: new URLSearchParams({ Action, Version: '2010-05-08', ...parameters }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${Action}: ${text}`);
    return (tag: string) => new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(text)?.[1] ?? '';
  };
  const allow = (Action: string | readonly string[], more: object = { Resource: '*' }) =>
    JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action, ...more }] });
  const trust = (user: string) =>
    allow('sts:AssumeRole', { Principal: { AWS: `arn:aws:iam::${account}:user/${user}` } });
  const role = async (RoleName: string, trusted: string) =>
    (await iam('CreateRole', { RoleName, AssumeRolePolicyDocument: trust(trusted) }))('Arn');

  const UserName = 'sidecar';
  await iam('CreateUser', { UserName });
  await iam('CreateUser', { UserName: 'someone' });
  const key = await iam('CreateAccessKey', { UserName });
  const roleArn = await role('handler', UserName);
  const foreignRoleArn = await role('foreign', 'someone');
  const PolicyName = 'own';
  await iam('PutUserPolicy', { UserName, PolicyName, PolicyDocument: allow(['sqs:*', 'sts:AssumeRole']) });
  for (const RoleName of ['handler', 'foreign'])
    await iam('PutRolePolicy', { RoleName, PolicyName, PolicyDocument: allow('s3:PutObject') });
  const reset = await fetch(`${endpoint}/moto-api/reset-auth`, { method: 'POST', body: '0' });
  if (!reset.ok) throw new Error(`reset-auth: ${await reset.text()}`);
  const sidecar = { accessKeyId: key('AccessKeyId'), secretAccessKey: key('SecretAccessKey') };
  return { sidecar, roleArn, foreignRoleArn, bucket, queueUrl };
}
