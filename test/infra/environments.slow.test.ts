import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RemovalPolicy } from 'aws-cdk-lib';
import { expect, test } from 'vitest';
import { readDeployEnvironment } from '../../infra/stacks/read-environment.ts';
import { mistakesText } from '../../lib/core/text/mistake.ts';
import { ROOT } from '../sidecar/sidecar-process.ts';
import { aFolder } from '../support/a-folder.ts';

const CDK = JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8'));

function mistakesOf(environments: unknown, name: unknown): readonly string[] {
  const reading = readDeployEnvironment(environments, name);
  return 'mistakes' in reading ? mistakesText(reading.mistakes).split('\n') : [];
}

test('dev and prod in cdk.json are valid and differ in their removal policy', () => {
  const read = (name: string) => readDeployEnvironment(CDK.context.environments, name);
  expect(read('dev')).toMatchObject({
    environment: { removalPolicy: RemovalPolicy.DESTROY, concurrency: 5 },
  });
  expect(read('prod')).toMatchObject({
    environment: { removalPolicy: RemovalPolicy.RETAIN, logRetention: 90 },
  });
});

test('suggests the nearest name for an unknown environment', () => {
  expect(mistakesOf(CDK.context.environments, 'prd')).toEqual([
    'env: is "prd"; "environments" in cdk.json has: dev, prod; did you mean "prod"?',
  ]);
});

test('reports all mistakes at once', () => {
  const wrong = {
    account: 12,
    region: 'Frankfurt',
    removalPolicy: 'keep',
    logRetentionDays: 8,
    alarmEmail: 'on-call',
    concurrency: 1,
    crewConcurrency: 1_001,
    sqsClient: 'aws',
    regoin: 'x',
  };
  expect(mistakesOf({ dev: wrong }, 'dev')).toEqual([
    'environments.dev.regoin: is not a known field; did you mean "region"?',
    'environments.dev.account: is 12; expected 12 digits in quotes',
    'environments.dev.region: is "Frankfurt"; expected a region like "eu-central-1"',
    'environments.dev.alarmEmail: is "on-call"; expected an email address',
    'environments.dev.concurrency: is 1; expected a whole number from 2, the minimum of an SQS event source, to 1000',
    'environments.dev.crewConcurrency: is 1001; expected a whole number from 2, the minimum of an SQS event source, to 1000',
    'environments.dev.sqsClient: is "aws"; expected "slim" or "sdk"',
    'environments.dev.removalPolicy: is "keep"; expected "destroy" or "retain"',
    expect.stringMatching(/^environments\.dev\.logRetentionDays: is 8; CloudWatch supports 1, 3, 5, 7, /),
  ]);
});

test('reads the options of the gateway', () => {
  const gatewayOf = (gateway: unknown) => {
    const reading = readDeployEnvironment({ dev: { gateway } }, 'dev');
    return 'environment' in reading ? reading.environment.gateway : mistakesText(reading.mistakes);
  };
  const tokens = { issuer: 'https://i.example', audience: 'asya', jwksUrl: 'https://i.example/jwks' };
  expect([gatewayOf(undefined), gatewayOf(false), gatewayOf(true)]).toEqual([undefined, undefined, {}]);
  expect(gatewayOf({ tokens, origins: ['https://a.example'] })).toEqual({
    tokens,
    origins: ['https://a.example'],
  });
  expect(gatewayOf('yes')).toContain('environments.dev.gateway: is "yes"; expected true, false or an object');
  expect(gatewayOf({ callersAtOnce: 50 })).toEqual({ callersAtOnce: 50 });
  for (const wrong of [0, -1, 1.5, '50'])
    expect(gatewayOf({ callersAtOnce: wrong })).toContain('callersAtOnce: is');
  expect(gatewayOf({ tokns: {} })).toContain('did you mean "tokens"?');
  expect(gatewayOf({ tokens: { ...tokens, jwksUrl: 'http://i.example' } })).toContain(
    'jwksUrl must start with https://',
  );
  expect(gatewayOf({ origins: ['https://a.example/page'] })).toContain('expected a list of origins');
});

function app(context: Record<string, unknown>): { status: number | null; stderr: string } {
  return spawnSync(process.execPath, [join(ROOT, 'infra/app.ts')], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], CDK_CONTEXT_JSON: JSON.stringify({ ...CDK.context, ...context }) },
    cwd: ROOT,
  });
}

test('the app prints all mistakes of mesh and environment, without a stack trace', {
  timeout: 60_000,
}, () => {
  const mesh = aFolder({
    'a.yaml':
      'apiVersion: asya.sh/v1alpha1\nkind: AsyncActor\nmetadata: {name: a}\nspec: {handler: a.ts.a, nxt: []}\n',
  });
  const { status, stderr } = app({ mesh, env: 'prd', name: 'My Mesh' });
  expect(status).toBe(1);
  expect(stderr).toContain('asya: 4 mistakes in the deployment; nothing was synthesized\n');
  expect(stderr).toContain('spec.nxt: is not a known field; did you mean "next"?');
  expect(stderr).toContain('env: is "prd"');
  expect(stderr).toContain('mesh: name is "My Mesh", which is not valid in names of queues and stacks');
  expect(stderr).not.toContain('    at ');
});

test('the app prints all violations of Lambda limits before it bundles anything', {
  timeout: 60_000,
}, () => {
  const mesh = aFolder({
    'a.yaml':
      'apiVersion: asya.sh/v1alpha1\nkind: AsyncActor\nmetadata: {name: a}\nspec: {handler: a.ts.a, scaling: {maxReplicas: 1}, resiliency: {actorTimeout: 1h}}\n',
    'a.ts': 'export const a = () => 1;\n',
  });
  const { status, stderr } = app({ mesh, name: 'refused' });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^asya: 2 mistakes in the deployment of mesh "dev-refused"/);
  expect(stderr).not.toContain('    at ');
});
