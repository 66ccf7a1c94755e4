import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { beforeAll, describe, expect, test } from 'vitest';
import { ActorMesh } from '../../infra/constructs/actor-mesh.ts';
import { dynamoDbEndRecords } from '../../lib/adapters/dynamodb/dynamodb-end-records.ts';
import { dynamoDbTaskStore } from '../../lib/adapters/dynamodb/dynamodb-task-store.ts';
import { deriveId, systemClock } from '../../lib/adapters/system/system.ts';
import type { GatewayDeps } from '../../lib/app/gateway/gateway-deps.ts';
import { makeGateway } from '../../lib/app/gateway/make-gateway.ts';
import { aStep, aTask } from '../core/a-task.ts';
import {
  anApp,
  DEV_WITH_GATEWAY,
  LETTERS,
  manifestIn,
  nameIn,
  type Resource,
  resourcesOf,
  STUB_CODE,
  stackOf,
  type TemplateJson,
  templateOf,
} from './a-mesh-stack.ts';

let template: TemplateJson;
beforeAll(() => {
  template = templateOf(manifestIn(LETTERS), { environment: DEV_WITH_GATEWAY });
});

const functions = () => resourcesOf(template, 'AWS::Lambda::Function');
const variablesOf = ({ Properties }: Resource) => Properties.Environment.Variables as Record<string, unknown>;
const gateway = () => functions().find((one) => 'ASYA_GATEWAY_FLOWS_FILE' in variablesOf(one)) as Resource;
const inGateway = (id: string) =>
  functions().find((one) => one.id.startsWith(`MeshGateway${id}`)) as Resource & { id: string };
const timer = () => inGateway('Timer');
const reports = () => inGateway('Reports');
const urlOf = (name: string) =>
  resourcesOf(template, 'AWS::Lambda::Url').find(({ id }) => id.startsWith(`MeshGateway${name}`));

interface KeyedInput {
  readonly Key?: Readonly<Record<string, AttributeValue>>;
  readonly Item?: Readonly<Record<string, AttributeValue>>;
}

function statementsOf({ Properties }: Resource): Resource['Properties'][] {
  const role = Properties.Role['Fn::GetAtt'][0];
  return resourcesOf(template, 'AWS::IAM::Policy')
    .filter((policy) => policy.Properties.Roles.some(({ Ref }: { Ref: string }) => Ref === role))
    .flatMap((policy) => policy.Properties.PolicyDocument.Statement);
}

function allowed(one: Resource, action: string): readonly string[] {
  return statementsOf(one)
    .filter(({ Action }) => [Action].flat().includes(action))
    .flatMap(({ Resource: on }) => [on].flat().map((arn) => nameIn(template, arn)))
    .sort();
}

const keysIn = (some: TemplateJson): string =>
  resourcesOf(some, 'AWS::Lambda::Function')
    .map((one) => JSON.stringify(variablesOf(one)['ASYA_GATEWAY_KEYS'] ?? ''))
    .join();

describe('the gateway', () => {
  test('bounds callers where its environment says so, and never reports: their share is what callers leave', () => {
    expect(gateway().Properties).not.toHaveProperty('ReservedConcurrentExecutions');
    const environment = { ...DEV_WITH_GATEWAY, gateway: { callersAtOnce: 50 } };
    const bounds = resourcesOf(
      templateOf({ actors: [], flows: [] }, { environment }),
      'AWS::Lambda::Function',
    ).flatMap(({ id, Properties }) =>
      'ReservedConcurrentExecutions' in Properties ? [[id, Properties.ReservedConcurrentExecutions]] : [],
    );
    expect(bounds).toEqual([[expect.stringMatching(/^MeshGatewayFunction/), 50]]);
  });

  test('has alarms for callers that Lambda refuses and reports that are lost, and its row on the dashboard', () => {
    const alarms = resourcesOf(template, 'AWS::CloudWatch::Alarm').map(({ Properties }) => Properties);
    const metricsOf = (name: string) => {
      const found = alarms.find(({ AlarmName }) => AlarmName === `asya-dev-letters-x-gateway-${name}`);
      return [...JSON.stringify(found).matchAll(/"MetricName":"(\w+)"/g)].map(([, metric]) => metric).sort();
    };
    expect(metricsOf('throttled')).toEqual(['Throttles']);
    expect(metricsOf('reports-lost')).toEqual(['Throttles', 'Url5xxCount']);
    const board = JSON.stringify(resourcesOf(template, 'AWS::CloudWatch::Dashboard')[0]?.Properties);
    for (const part of ['callers at once', 'refused', 'reports']) expect(board).toContain(`gateway: ${part}`);
  });

  test('is a function URL that streams, and checks for itself who calls', () => {
    expect(urlOf('Function')?.Properties).toMatchObject({ AuthType: 'NONE', InvokeMode: 'RESPONSE_STREAM' });
    expect(gateway().Properties.Timeout).toBe(900);
    expect(template.Outputs).toHaveProperty('GatewayUrl');
  });

  test('may send to where flows begin and to its own timers, and to nobody else', () => {
    const entrypoints = new Set(manifestIn(LETTERS).flows.map(({ entrypoint }) => entrypoint));
    expect(allowed(gateway(), 'sqs:SendMessage')).toEqual(
      [...entrypoints, 'x-gateway'].map((name) => `asya-dev-letters-${name}`).sort(),
    );
    expect(allowed(gateway(), 'sqs:ReceiveMessage')).toEqual([]);
    expect(allowed(gateway(), 's3:PutObject')).toEqual([]);
  });

  test('may do to the table what its store of tasks does, and change in place no more than what it claimed', async () => {
    const asked = new Set<string>();
    const send = async (command: { input: { IndexName?: string } }) => {
      asked.add(command.constructor.name.replace('Command', '') + (command.input.IndexName ?? ''));
      throw new Error('not here');
    };
    const table = { client: { send } as unknown as DynamoDBClient, name: 'failures' };
    const tasks = dynamoDbTaskStore(table, systemClock, () => 0);
    await tasks.create(aTask());
    await tasks.get('t-1');
    await tasks.update('t-1', (task) => task);
    await tasks.list('me');
    await tasks.claimKey('k', { taskId: 't-1', digest: 'd', atMs: 0 });
    await tasks.confirmKey('k', 't-1');
    await tasks.releaseKey('k', 't-1');
    await dynamoDbEndRecords(table, deriveId).ofEnvelope('t-1');
    expect([...asked].sort()).toEqual([
      'GetItem',
      'PutItem',
      'Queryby-envelope',
      'Queryby-owner',
      'UpdateItem',
    ]);
    const statements = resourcesOf(template, 'AWS::IAM::Policy')
      .filter(({ id }) => id.startsWith('MeshGatewayFunctionRole'))
      .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
      .filter(({ Action }) => JSON.stringify(Action).includes('dynamodb:'));
    expect(statements.flatMap(({ Action }) => Action).sort()).toEqual(
      ['GetItem', 'PutItem', 'Query', 'UpdateItem'].map((action) => `dynamodb:${action}`),
    );
    expect(allowed(gateway(), 'dynamodb:Query').map((arn) => arn.split('/').at(-1))).toEqual([
      'by-envelope',
      'by-owner',
    ]);
    expect(statements.find(({ Action }) => Action === 'dynamodb:UpdateItem').Condition).toEqual({
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['idempotency#*'] },
    });
    expect(allowed(timer(), 'dynamodb:UpdateItem')).toEqual([]);
  });

  test('is reported to at a function of its own, which callers cannot use up, and whose secret theirs has not', () => {
    const [, , ...others] = resourcesOf(template, 'AWS::Lambda::Url');
    expect(others).toEqual([]);
    expect(urlOf('Reports')?.Properties).toMatchObject({
      AuthType: 'NONE',
      TargetFunctionArn: { 'Fn::GetAtt': [reports().id, 'Arn'] },
    });
    expect(urlOf('Reports')?.Properties.InvokeMode).not.toBe('RESPONSE_STREAM');
    expect(variablesOf(gateway())).not.toHaveProperty('ASYA_GATEWAY_SECRET');
    expect(variablesOf(reports())).not.toHaveProperty('ASYA_GATEWAY_KEYS');
    expect(JSON.stringify(variablesOf(reports())['ASYA_GATEWAY_SECRET'])).toContain('resolve:secretsmanager');
    expect(reports().Properties.Role).not.toEqual(gateway().Properties.Role);
    expect(reports().Properties.LoggingConfig).not.toEqual(gateway().Properties.LoggingConfig);
  });

  test('lets reports read and write tasks, and nothing else: neither what failed nor a queue nor the archive', async () => {
    const asked = new Set<string>();
    const keys: (string | undefined)[] = [];
    let item: KeyedInput['Item'];
    const send = async (command: { input: KeyedInput }) => {
      const { input } = command;
      asked.add(command.constructor.name.replace('Command', ''));
      keys.push((input.Key ?? input.Item)?.['pk']?.S);
      item = input.Item ?? item;
      return { Item: item };
    };
    const table = { client: { send } as unknown as DynamoDBClient, name: 'failures' };
    const tasks = dynamoDbTaskStore(table, systemClock, () => 0);
    await tasks.create(aTask());
    asked.clear();
    const parts = { tasks, clock: systemClock } as GatewayDeps;
    expect(await makeGateway(parts).report([aStep('received', 0)])).toEqual({ canceled: [] });
    const [statement, ...others] = statementsOf(reports()).filter(
      ({ Action }) => !JSON.stringify(Action).includes('logs:'),
    );
    expect(others).toEqual([]);
    expect(statement.Action).toEqual([...asked].map((action) => `dynamodb:${action}`).sort());
    expect(statement.Resource).toEqual({ 'Fn::GetAtt': [expect.stringContaining('Failures'), 'Arn'] });
    expect(statement.Condition).toEqual({
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['task#*'] },
    });
    expect(new Set(keys)).toEqual(new Set(['task#t-1']));
  });

  test('has timers that come again from its own queue, which x-dlq drains too', () => {
    const sources = resourcesOf(template, 'AWS::Lambda::EventSourceMapping').filter(
      ({ Properties }) => Properties.FunctionName.Ref === timer().id,
    );
    expect(sources.map(({ Properties }) => nameIn(template, Properties.EventSourceArn))).toEqual([
      'asya-dev-letters-x-gateway',
    ]);
    expect(allowed(timer(), 'sqs:SendMessage')).toEqual(['asya-dev-letters-x-gateway']);
    const drained = resourcesOf(template, 'AWS::Lambda::EventSourceMapping').map(({ Properties }) =>
      nameIn(template, Properties.EventSourceArn),
    );
    expect(drained).toContain('asya-dev-letters-x-gateway-dlq');
  });

  test('is reported to by every actor and the crew, with a secret that stands in no template', () => {
    const reporters = functions().filter((one) => variablesOf(one)['ASYA_ACTOR_NAME'] !== 'x-gateway');
    expect(reporters.length).toBeGreaterThanOrEqual(7);
    for (const one of reporters) {
      const { ASYA_GATEWAY_URL, ASYA_GATEWAY_SECRET } = variablesOf(one);
      expect(ASYA_GATEWAY_URL).toEqual({ 'Fn::GetAtt': [urlOf('Reports')?.id, 'FunctionUrl'] });
      expect(JSON.stringify(ASYA_GATEWAY_SECRET)).toContain('resolve:secretsmanager');
    }
    expect(JSON.stringify(variablesOf(gateway())['ASYA_GATEWAY_KEYS'])).toContain('resolve:secretsmanager');
  });

  test('lets nobody in until somebody says who', () => {
    const keys = resourcesOf(template, 'AWS::SecretsManager::Secret').find(
      ({ Properties }) => Properties.SecretString !== undefined,
    );
    expect(keys?.Properties.SecretString).toBe('[]');
  });

  test('names the version of its keys: CloudFormation reads a secret again only where its reference changed', async () => {
    const { app } = await anApp();
    const stack = new Stack(app, 'Hand');
    const mesh = new ActorMesh(stack, 'Mesh', { namespace: 'dev-hand', code: STUB_CODE });
    expect(() => mesh.addGateway({ keysVersion: '2' })).toThrow(
      'asya: the version of the gateway\'s keys is "2"; it takes the VersionId that put-secret-value told',
    );
    const keysVersion = '7a0e8b1c-0000-4000-8000-000000000001';
    expect(keysIn(template)).toContain(':SecretString:::}}');
    const named = new ActorMesh(stack, 'Named', { namespace: 'dev-named', code: STUB_CODE });
    named.addGateway({ keysVersion });
    expect(keysIn(Template.fromStack(stack).toJSON() as TemplateJson)).toContain(
      `:SecretString:::${keysVersion}}}`,
    );
  });

  test('keys for a gateway that the environment does not have are a mistake, not nothing', () => {
    const keysVersion = '7a0e8b1c-0000-4000-8000-000000000001';
    expect(() => stackOf({ actors: [], flows: [] }, { keysVersion })).toThrow(
      /^asya: keys of version "7a0e8b1c-.*" are given, and "dev" has no gateway to take them/,
    );
  });

  test('takes the tokens and the pages that its environment names', () => {
    const tokens = {
      issuer: 'https://issuer.example',
      audience: 'asya',
      jwksUrl: 'https://issuer.example/jwks',
    };
    const environment = { ...DEV_WITH_GATEWAY, gateway: { tokens, origins: ['https://app.example'] } };
    const made = templateOf(manifestIn(LETTERS), { environment });
    const told = resourcesOf(made, 'AWS::Lambda::Function').filter(
      (one) => 'ASYA_GATEWAY_JWT_ISSUER' in variablesOf(one),
    );
    expect(told.map(variablesOf)).toMatchObject([
      {
        ASYA_GATEWAY_JWT_ISSUER: tokens.issuer,
        ASYA_GATEWAY_JWT_AUDIENCE: tokens.audience,
        ASYA_GATEWAY_JWKS_URL: tokens.jwksUrl,
        ASYA_GATEWAY_ORIGINS: 'https://app.example',
      },
    ]);
  });

  test('may delete nothing: what failed lies in the same table', () => {
    for (const one of [gateway(), timer(), reports()])
      expect(allowed(one, 'dynamodb:DeleteItem')).toEqual([]);
  });

  test('comes last: it offers the flows that are there', async () => {
    const { app } = await anApp();
    const mesh = new ActorMesh(new Stack(app, 'Hand'), 'Mesh', { namespace: 'dev-hand', code: STUB_CODE });
    mesh.addActor('score', { handler: 'score.ts.score' });
    mesh.addFlow('main', { entrypoint: 'score' });
    mesh.addGateway();
    expect(() => mesh.addFlow('late', { entrypoint: 'score' })).toThrow(/"late" comes after the gateway/);
    expect(() => mesh.addGateway()).toThrow(/has a gateway already/);
    const full = new ActorMesh(new Stack(app, 'Full'), 'Mesh', { namespace: 'dev-full', code: STUB_CODE });
    full.addActor('score', { handler: 'score.ts.score', environment: { PROMPT: 'x'.repeat(3700) } });
    expect(() => full.addGateway()).toThrow(/^asya: a mistake .*\n.*environment of 41\d\d bytes/);
  });
});
