import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { beforeAll, describe, expect, test } from 'vitest';
import { ActorMesh } from '../../infra/constructs/actor-mesh.ts';
import { dynamoDbCancellations } from '../../lib/adapters/dynamodb/dynamodb-cancellations.ts';
import { dynamoDbEndRecords } from '../../lib/adapters/dynamodb/dynamodb-end-records.ts';
import { dynamoDbTaskStore } from '../../lib/adapters/dynamodb/dynamodb-task-store.ts';
import { deriveId, systemClock } from '../../lib/adapters/system/system.ts';
import type { GatewayDeps } from '../../lib/app/gateway/gateway-deps.ts';
import { makeGateway } from '../../lib/app/gateway/make-gateway.ts';
import { anUpdate, aStep, aTask } from '../core/a-task.ts';
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

const keysIn = (given: TemplateJson): string =>
  resourcesOf(given, 'AWS::Lambda::Function')
    .map((one) => JSON.stringify(variablesOf(one)['ASYA_GATEWAY_KEYS'] ?? ''))
    .join();

describe('the gateway', () => {
  test('reserves concurrency for callers if configured, and never for reports', () => {
    expect(gateway().Properties).not.toHaveProperty('ReservedConcurrentExecutions');
    const environment = { ...DEV_WITH_GATEWAY, gateway: { callersAtOnce: 50 } };
    const reserved = resourcesOf(
      templateOf({ actors: [], flows: [] }, { environment }),
      'AWS::Lambda::Function',
    ).flatMap(({ id, Properties }) =>
      'ReservedConcurrentExecutions' in Properties ? [[id, Properties.ReservedConcurrentExecutions]] : [],
    );
    expect(reserved).toEqual([[expect.stringMatching(/^MeshGatewayFunction/), 50]]);
  });

  test('has alarms for throttled callers and lost reports, and a dashboard row', () => {
    const alarms = resourcesOf(template, 'AWS::CloudWatch::Alarm').map(({ Properties }) => Properties);
    const metricsOf = (name: string) => {
      const found = alarms.find(({ AlarmName }) => AlarmName === `asya-dev-letters-x-gateway-${name}`);
      return [...JSON.stringify(found).matchAll(/"MetricName":"(\w+)"/g)].map(([, metric]) => metric).sort();
    };
    expect(metricsOf('throttled')).toEqual(['Throttles']);
    expect(metricsOf('reports-lost')).toEqual(['Throttles', 'Url5xxCount']);
    const board = JSON.stringify(resourcesOf(template, 'AWS::CloudWatch::Dashboard')[0]?.Properties);
    for (const part of ['concurrent requests', 'throttled and failed', 'reports'])
      expect(board).toContain(`gateway: ${part}`);
  });

  test('is a function URL with streaming and without IAM authentication', () => {
    expect(urlOf('Function')?.Properties).toMatchObject({ AuthType: 'NONE', InvokeMode: 'RESPONSE_STREAM' });
    expect(gateway().Properties.Timeout).toBe(900);
    expect(template.Outputs).toHaveProperty('GatewayUrl');
  });

  test('may send only to the entrypoints of flows and to its timers', () => {
    const entrypoints = new Set(manifestIn(LETTERS).flows.map(({ entrypoint }) => entrypoint));
    expect(allowed(gateway(), 'sqs:SendMessage')).toEqual(
      [...entrypoints, 'x-gateway'].map((name) => `asya-dev-letters-${name}`).sort(),
    );
    expect(allowed(gateway(), 'sqs:ReceiveMessage')).toEqual([]);
    expect(allowed(gateway(), 's3:PutObject')).toEqual([]);
  });

  test('has exactly the table permissions that the task store uses, and may update only idempotency keys and cancellations', async () => {
    const actions = new Set<string>();
    const send = async (command: { input: { IndexName?: string } }) => {
      actions.add(command.constructor.name.replace('Command', '') + (command.input.IndexName ?? ''));
      throw new Error('not available in this test');
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
    await tasks.overdue('me', { fromMs: 0, toMs: 1 }, 1, 1);
    await dynamoDbCancellations(table, systemClock).add('t-1');
    await dynamoDbEndRecords(table, deriveId).ofEnvelope('t-1');
    expect([...actions].sort()).toEqual([
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
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['idempotency#*', 'canceled#*'] },
    });
    expect(allowed(timer(), 'dynamodb:UpdateItem')).toEqual([]);
  });

  test('receives reports at a separate function with its own secret, role and logs', () => {
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

  test('allows the reports function to read and write tasks and to read cancellations, and nothing else', async () => {
    const used = new Map<string, Set<string>>();
    let item: KeyedInput['Item'];
    const send = async (command: { input: KeyedInput }) => {
      const { input } = command;
      const [prefix = ''] = String((input.Key ?? input.Item)?.['pk']?.S).split('#');
      const action = command.constructor.name.replace('Command', '');
      used.set(prefix, new Set([...(used.get(prefix) ?? []), `dynamodb:${action}`]));
      item = input.Item ?? item;
      // A progress report has to be read and written; the others are appended.
      return prefix === 'task' ? { Item: item } : {};
    };
    const table = { client: { send } as unknown as DynamoDBClient, name: 'failures' };
    const tasks = dynamoDbTaskStore(table, systemClock, () => 0);
    await tasks.create(aTask());
    used.clear();
    const cancellations = dynamoDbCancellations(table, systemClock);
    const { report } = makeGateway({ tasks, cancellations, clock: systemClock } as GatewayDeps);
    for (const one of [aStep('processing', 0), anUpdate(0, 1)])
      expect(await report([one])).toEqual({ canceled: [] });
    const statements = statementsOf(reports()).filter(
      ({ Action }) => !JSON.stringify(Action).includes('logs:'),
    );
    const allowedByKey = statements.map(({ Action, Resource, Condition }) => {
      expect(Resource).toEqual({ 'Fn::GetAtt': [expect.stringContaining('Failures'), 'Arn'] });
      expect(Object.keys(Condition)).toEqual(['ForAllValues:StringLike']);
      return [Condition['ForAllValues:StringLike'], [Action].flat().sort()];
    });
    expect(allowedByKey).toEqual(
      ['task', 'canceled'].map((prefix) => [
        { 'dynamodb:LeadingKeys': expect.toSatisfy((keys) => [keys].flat()[0] === `${prefix}#*`) },
        [...(used.get(prefix) ?? [])].sort(),
      ]),
    );
  });

  test('has a timer function on its own queue, whose dead letters x-dlq drains', () => {
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

  test('receives reports of every actor and the crew, with a secret that is not in the template', () => {
    const reporters = functions().filter((one) => variablesOf(one)['ASYA_ACTOR_NAME'] !== 'x-gateway');
    expect(reporters.length).toBeGreaterThanOrEqual(7);
    for (const one of reporters) {
      const { ASYA_GATEWAY_URL, ASYA_GATEWAY_SECRET } = variablesOf(one);
      expect(ASYA_GATEWAY_URL).toEqual({ 'Fn::GetAtt': [urlOf('Reports')?.id, 'FunctionUrl'] });
      expect(JSON.stringify(ASYA_GATEWAY_SECRET)).toContain('resolve:secretsmanager');
    }
    expect(JSON.stringify(variablesOf(gateway())['ASYA_GATEWAY_KEYS'])).toContain('resolve:secretsmanager');
  });

  test('rejects all callers by default', () => {
    const keys = resourcesOf(template, 'AWS::SecretsManager::Secret').find(
      ({ Properties }) => Properties.SecretString !== undefined,
    );
    expect(keys?.Properties.SecretString).toBe('[]');
  });

  test('refers to the given version of its keys', async () => {
    const { app } = await anApp();
    const stack = new Stack(app, 'Hand');
    const mesh = new ActorMesh(stack, 'Mesh', { namespace: 'dev-hand', code: STUB_CODE });
    expect(() => mesh.addGateway({ keysVersion: '2' })).toThrow(
      'asya: keysVersion of the gateway is "2"; expected the VersionId that put-secret-value returned',
    );
    const keysVersion = '7a0e8b1c-0000-4000-8000-000000000001';
    expect(keysIn(template)).toContain(':SecretString:::}}');
    const named = new ActorMesh(stack, 'Named', { namespace: 'dev-named', code: STUB_CODE });
    named.addGateway({ keysVersion });
    expect(keysIn(Template.fromStack(stack).toJSON() as TemplateJson)).toContain(
      `:SecretString:::${keysVersion}}}`,
    );
  });

  test('rejects a keysVersion without a gateway', () => {
    const keysVersion = '7a0e8b1c-0000-4000-8000-000000000001';
    expect(() => stackOf({ actors: [], flows: [] }, { keysVersion })).toThrow(
      /^asya: keysVersion is "7a0e8b1c-.*", but environment "dev" has no gateway; remove it/,
    );
  });

  test('accepts the tokens and origins of its environment', () => {
    const tokens = {
      issuer: 'https://issuer.example',
      audience: 'asya',
      jwksUrl: 'https://issuer.example/jwks',
    };
    const environment = { ...DEV_WITH_GATEWAY, gateway: { tokens, origins: ['https://app.example'] } };
    const made = templateOf(manifestIn(LETTERS), { environment });
    const configured = resourcesOf(made, 'AWS::Lambda::Function').filter(
      (one) => 'ASYA_GATEWAY_JWT_ISSUER' in variablesOf(one),
    );
    expect(configured.map(variablesOf)).toMatchObject([
      {
        ASYA_GATEWAY_JWT_ISSUER: tokens.issuer,
        ASYA_GATEWAY_JWT_AUDIENCE: tokens.audience,
        ASYA_GATEWAY_JWKS_URL: tokens.jwksUrl,
        ASYA_GATEWAY_ORIGINS: 'https://app.example',
      },
    ]);
  });

  test('may not delete from the table', () => {
    for (const one of [gateway(), timer(), reports()])
      expect(allowed(one, 'dynamodb:DeleteItem')).toEqual([]);
  });

  test('must be added last and only once, and checks the size of the environment', async () => {
    const { app } = await anApp();
    const mesh = new ActorMesh(new Stack(app, 'Hand'), 'Mesh', { namespace: 'dev-hand', code: STUB_CODE });
    mesh.addActor('score', { handler: 'score.ts.score' });
    mesh.addFlow('main', { entrypoint: 'score' });
    mesh.addGateway();
    expect(() => mesh.addFlow('late', { entrypoint: 'score' })).toThrow(/"late" was added after the gateway/);
    expect(() => mesh.addGateway()).toThrow(/"dev-hand" already has a gateway/);
    const full = new ActorMesh(new Stack(app, 'Full'), 'Mesh', { namespace: 'dev-full', code: STUB_CODE });
    full.addActor('score', { handler: 'score.ts.score', environment: { PROMPT: 'x'.repeat(3700) } });
    expect(() => full.addGateway()).toThrow(/^asya: 1 mistake .*\n.*environment of 41\d\d bytes/);
  });
});
