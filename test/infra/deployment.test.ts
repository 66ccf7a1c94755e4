import { App, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Key } from 'aws-cdk-lib/aws-kms';
import { beforeAll, describe, expect, test } from 'vitest';
import { MeshStack } from '../../infra/stacks/mesh-stack.ts';
import {
  DEV,
  DEV_WITH_GATEWAY,
  FLAGS,
  functionOf,
  LETTERS,
  manifestIn,
  nameIn,
  permissionsOf,
  queueNamed,
  queuesFor,
  type Resource,
  resourcesOf,
  STUB_CODE,
  stackOf,
  type TemplateJson,
  templateOf,
} from './a-mesh-stack.ts';

/** The properties that a deployment guarantees, checked in its template. */

let template: TemplateJson;
beforeAll(() => {
  template = templateOf(manifestIn(LETTERS));
});

const ACTORS = ['count', 'store', 'translate', 'review'];
const CREW = ['x-sink', 'x-sump', 'x-dlq'];
const QUEUED = [...ACTORS, 'x-sink', 'x-sump'];
const queue = (actor: string) => queueNamed(template, `asya-dev-letters-${actor}`);
const deadLetters = (actor: string) => queueNamed(template, `asya-dev-letters-${actor}-dlq`);
const all = (type: string): readonly Resource[] => resourcesOf(template, type);
const sourcesOf = (actor: string) => {
  const { id } = functionOf(template, actor);
  return resourcesOf(template, 'AWS::Lambda::EventSourceMapping').filter(
    ({ Properties }) => Properties.FunctionName.Ref === id,
  );
};

describe('queues', () => {
  test('each have their own dead-letter queue, which accepts no other source', () => {
    expect(all('AWS::SQS::Queue').length).toBe(2 * QUEUED.length);
    for (const actor of QUEUED) {
      const { RedrivePolicy } = queue(actor).Properties;
      expect(nameIn(template, RedrivePolicy.deadLetterTargetArn)).toBe(`asya-dev-letters-${actor}-dlq`);
      expect(RedrivePolicy.maxReceiveCount).toBeGreaterThanOrEqual(5);
      const { redrivePermission, sourceQueueArns } = deadLetters(actor).Properties.RedriveAllowPolicy;
      expect(redrivePermission).toBe('byQueue');
      expect(sourceQueueArns.map((arn: unknown) => nameIn(template, arn))).toEqual([
        `asya-dev-letters-${actor}`,
      ]);
    }
  });

  test('have a visibility timeout longer than the function may hold a message', () => {
    for (const actor of QUEUED) {
      for (const { Properties } of sourcesOf(actor)) {
        const { Timeout } = functionOf(template, actor).Properties;
        const window = Properties.MaximumBatchingWindowInSeconds ?? 0;
        expect(queue(actor).Properties.VisibilityTimeout).toBeGreaterThanOrEqual(Timeout + window);
      }
      expect(deadLetters(actor).Properties.VisibilityTimeout).toBeGreaterThanOrEqual(
        functionOf(template, 'x-dlq').Properties.Timeout,
      );
    }
    // Function timeout: five rounds of 10 s and 5 s for startup and sends. Visibility timeout: 30 s more.
    expect(functionOf(template, 'count').Properties.Timeout).toBe(55);
    expect(queue('count').Properties.VisibilityTimeout).toBe(85);
  });

  test('keep dead letters longer than messages', () => {
    for (const actor of QUEUED) {
      const { MessageRetentionPeriod } = deadLetters(actor).Properties;
      expect(MessageRetentionPeriod).toBeGreaterThan(queue(actor).Properties.MessageRetentionPeriod);
    }
  });

  test('accept only TLS and are encrypted', () => {
    const policies = all('AWS::SQS::QueuePolicy');
    for (const { id, Properties } of resourcesOf(template, 'AWS::SQS::Queue')) {
      expect(Properties.SqsManagedSseEnabled).toBe(true);
      const own = policies.filter((policy) =>
        policy.Properties.Queues.some(({ Ref }: Resource & { Ref: string }) => Ref === id),
      );
      expect(own.flatMap((policy) => policy.Properties.PolicyDocument.Statement)).toEqual([
        expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
      ]);
    }
  });
});

describe('functions', () => {
  test('run Node 24 on arm64 without recursive loop detection', () => {
    expect(all('AWS::Lambda::Function').length).toBe(ACTORS.length + CREW.length);
    for (const { Properties } of all('AWS::Lambda::Function')) {
      expect(Properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        RecursiveLoop: 'Allow',
      });
    }
  });

  test('consume only their queue, report single records, and have a concurrency limit', () => {
    for (const actor of QUEUED) {
      const [source, ...others] = sourcesOf(actor);
      expect(others).toEqual([]);
      expect(nameIn(template, source?.Properties.EventSourceArn)).toBe(`asya-dev-letters-${actor}`);
    }
    for (const { Properties } of all('AWS::Lambda::EventSourceMapping')) {
      expect(Properties.FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
      expect(Properties.ScalingConfig.MaximumConcurrency).toBeGreaterThanOrEqual(2);
      // An event filter deletes messages that do not match.
      expect(Properties.FilterCriteria).toBeUndefined();
    }
    expect(sourcesOf('count')[0]?.Properties).toMatchObject({
      BatchSize: 10,
      ScalingConfig: { MaximumConcurrency: 20 },
    });
    expect(sourcesOf('store')[0]?.Properties).toMatchObject({
      BatchSize: 20,
      MaximumBatchingWindowInSeconds: 5,
    });
  });

  test('x-dlq drains every dead-letter queue', () => {
    const drained = sourcesOf('x-dlq').map(({ Properties }) => nameIn(template, Properties.EventSourceArn));
    expect(drained.sort()).toEqual(QUEUED.map((actor) => `asya-dev-letters-${actor}-dlq`).sort());
  });

  test('have their policies in a file, not in the environment', () => {
    const { Variables } = functionOf(template, 'count').Properties.Environment;
    expect(Variables).toMatchObject({
      ASYA_RESILIENCY_FILE: 'resiliency.json',
      ASYA_ROUTE_ALLOW: 'store',
      ALPHABET: 'latin',
    });
    expect(Variables).not.toHaveProperty('ASYA_RESILIENCY_POLICIES');
    expect(functionOf(template, 'translate').Properties.Environment.Variables).toMatchObject({
      ASYA_RUNTIME_URL: 'https://translate.example/invoke',
    });
  });

  test('have their own log group with a retention period', () => {
    expect(all('AWS::Logs::LogGroup').length).toBe(ACTORS.length + CREW.length);
    for (const { Properties } of all('AWS::Logs::LogGroup')) expect(Properties.RetentionInDays).toBe(7);
    for (const { Properties } of all('AWS::Lambda::Function'))
      expect(Properties.LoggingConfig.LogGroup).toBeDefined();
  });

  test('the concurrency of an environment limits all functions', () => {
    const lowered = templateOf(manifestIn(LETTERS), { environment: { ...DEV, concurrency: 3 } });
    for (const { Properties } of resourcesOf(lowered, 'AWS::Lambda::EventSourceMapping'))
      expect(Properties.ScalingConfig.MaximumConcurrency).toBe(3);
  });

  test('the crew has its own concurrency', () => {
    const raised = templateOf(manifestIn(LETTERS), { environment: { ...DEV, crewConcurrency: 40 } });
    const limits = resourcesOf(raised, 'AWS::Lambda::EventSourceMapping').map(
      ({ Properties }) => Properties.ScalingConfig.MaximumConcurrency,
    );
    expect(limits.filter((limit) => limit === 40).length).toBeGreaterThanOrEqual(CREW.length);
    expect(limits.filter((limit) => limit !== 40)).toHaveLength(ACTORS.length);
  });

  test('the concurrency of the crew is not lowered by the one for all functions', () => {
    const environment = { ...DEV, concurrency: 3, crewConcurrency: 40 };
    const limits = resourcesOf(
      templateOf(manifestIn(LETTERS), { environment }),
      'AWS::Lambda::EventSourceMapping',
    ).map(({ Properties }) => Properties.ScalingConfig.MaximumConcurrency);
    expect(new Set(limits)).toEqual(new Set([3, 40]));
    expect(limits.filter((limit) => limit === 3)).toHaveLength(ACTORS.length);
  });

  test('each function has a description of its own', () => {
    const descriptions = all('AWS::Lambda::Function').map(({ Properties }) => Properties.Description);
    expect(new Set(descriptions).size).toBe(descriptions.length);
  });
});

describe('the client of SQS', () => {
  const variablesIn = (from: TemplateJson) =>
    resourcesOf(from, 'AWS::Lambda::Function').map(({ Properties }) => Properties.Environment.Variables);

  test('knows the account, so that a send needs no request for the URL of its queue', () => {
    for (const variables of variablesIn(template)) {
      expect(variables.ASYA_SQS_ACCOUNT).toEqual({ Ref: 'AWS::AccountId' });
      expect(variables).not.toHaveProperty('ASYA_SQS_CLIENT');
    }
    const named = templateOf(manifestIn(LETTERS), { environment: { ...DEV, account: '111122223333' } });
    for (const variables of variablesIn(named)) expect(variables.ASYA_SQS_ACCOUNT).toBe('111122223333');
  });

  test('is the AWS SDK in all functions if the environment chooses it', () => {
    const chosen = templateOf(manifestIn(LETTERS), {
      environment: { ...DEV_WITH_GATEWAY, sqsClient: 'sdk' },
    });
    for (const variables of variablesIn(chosen)) expect(variables.ASYA_SQS_CLIENT).toBe('sdk');
  });
});

describe('permissions', () => {
  const sends = (actor: string) =>
    queuesFor(template, actor, 'sqs:SendMessage').map((name) => name.replace('asya-dev-letters-', ''));

  test('an actor may send to itself, its successors, its error actors, its escalation queues and x-sink', () => {
    expect(sends('count')).toEqual(['count', 'review', 'store', 'x-sink', 'letters-escalated']);
    expect(sends('translate')).toEqual(['count', 'store', 'translate', 'x-sink']);
    expect(sends('store')).toEqual(['review', 'store', 'x-sink']);
    expect(sends('review')).toEqual(['review', 'x-sink']);
    expect(sends('x-sink')).toEqual(['x-sink', 'x-sump']);
    expect(sends('x-sump')).toEqual(['x-sump']);
    expect(sends('x-dlq')).toEqual([]);
  });

  test('an actor may not access the archive or the table', () => {
    for (const actor of ACTORS) {
      const actions = permissionsOf(template, actor).map(({ action }) => action);
      expect(actions.filter((action) => !/^(sqs|logs):/.test(action))).toEqual([]);
    }
  });

  test('the crew may read and write the stores, but not delete', () => {
    for (const name of CREW) {
      const actions = new Set(permissionsOf(template, name).map(({ action }) => action));
      const stores = [...actions].filter((action) => !/^(sqs|logs):/.test(action));
      expect(stores.sort()).toEqual([
        'dynamodb:GetItem',
        'dynamodb:PutItem',
        'dynamodb:Query',
        'dynamodb:UpdateItem',
        's3:GetObject',
        's3:ListBucket',
        's3:PutObject',
      ]);
    }
  });

  test('contain no wildcards and no managed policies', () => {
    for (const { Properties } of all('AWS::IAM::Role')) expect(Properties.ManagedPolicyArns).toBeUndefined();
    for (const actor of [...ACTORS, ...CREW]) {
      for (const { action, resource } of permissionsOf(template, actor)) {
        expect(action).not.toContain('*');
        if (resource.includes('*')) expect(resource).toMatch(/\/(succeeded|failed|canceled|dlq)\/\*$/);
      }
    }
  });
});

describe('stores', () => {
  test('the archive is private, encrypted and versioned, and accepts only TLS', () => {
    const [bucket] = all('AWS::S3::Bucket');
    expect(bucket?.Properties).toMatchObject({
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
      },
      VersioningConfiguration: { Status: 'Enabled' },
    });
    expect(bucket?.Properties.LifecycleConfiguration.Rules).toHaveLength(1);
    expect(JSON.stringify(all('AWS::S3::BucketPolicy'))).toContain('"aws:SecureTransport":"false"');
  });

  test('the table has its indexes, a TTL attribute and point-in-time recovery', () => {
    const [table] = all('AWS::DynamoDB::Table');
    expect(table?.Properties).toMatchObject({
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      TimeToLiveSpecification: { AttributeName: 'expires_at', Enabled: true },
      BillingMode: 'PAY_PER_REQUEST',
    });
    expect(
      table?.Properties.GlobalSecondaryIndexes.map(({ IndexName }: { IndexName: string }) => IndexName),
    ).toEqual(['by-time', 'by-group', 'by-envelope', 'by-replay', 'by-owner']);
  });

  test('are retained or deleted according to the removal policy', () => {
    const kept = templateOf(manifestIn(LETTERS), {
      environment: { ...DEV, removalPolicy: RemovalPolicy.RETAIN },
    });
    for (const type of ['AWS::S3::Bucket', 'AWS::DynamoDB::Table', 'AWS::Logs::LogGroup']) {
      for (const { DeletionPolicy } of all(type)) expect(DeletionPolicy).toBe('Delete');
      for (const { DeletionPolicy } of resourcesOf(kept, type)) expect(DeletionPolicy).toBe('Retain');
    }
    for (const { DeletionPolicy } of resourcesOf(kept, 'AWS::SQS::Queue'))
      expect(DeletionPolicy ?? 'Delete').toBe('Delete');
  });
});

test("a user's KMS key encrypts queues, archive and table, and all functions may use it", () => {
  const app = new App({ context: FLAGS });
  const holder = new MeshStack(app, 'Keyed', {
    environment: DEV,
    meshName: 'letters',
    manifest: manifestIn(LETTERS),
    folder: LETTERS,
    code: STUB_CODE,
    encryptionKey: Key.fromKeyArn(
      new Stack(app, 'Keys'),
      'Key',
      'arn:aws:kms:eu-central-1:123456789012:key/12345678-1234-1234-1234-123456789012',
    ),
  });
  const keyed = Template.fromStack(holder).toJSON() as TemplateJson;
  for (const { Properties } of resourcesOf(keyed, 'AWS::SQS::Queue'))
    expect(Properties.KmsMasterKeyId).toContain('key/12345678');
  expect(functionOf(keyed, 'x-sink').Properties.Environment.Variables.ASYA_ARCHIVE_KMS_KEY).toContain(
    'key/12345678',
  );
  for (const actor of [...ACTORS, ...CREW]) {
    const onKey = permissionsOf(keyed, actor).filter(({ resource }) => resource.includes('key/12345678'));
    // Sending to an encrypted queue and writing to the archive need kms:GenerateDataKey.
    expect(onKey.map(({ action }) => action)).toEqual(
      expect.arrayContaining(['kms:Decrypt', 'kms:GenerateDataKey']),
    );
  }
  const [bucket] = resourcesOf(keyed, 'AWS::S3::Bucket');
  const [rule] = bucket?.Properties.BucketEncryption.ServerSideEncryptionConfiguration ?? [];
  expect(rule.ServerSideEncryptionByDefault.KMSMasterKeyID).toContain('key/12345678');
  const [table] = resourcesOf(keyed, 'AWS::DynamoDB::Table');
  expect(table?.Properties.SSESpecification.KMSMasterKeyId).toContain('key/12345678');
});

test('outputs contain the settings of the operator commands', () => {
  expect(template.Outputs['AsyaNamespace']?.Value).toBe('dev-letters');
  expect(Object.keys(template.Outputs)).toEqual(
    expect.arrayContaining(['AsyaArchiveBucket', 'AsyaFailureTable', 'AsyaAwsRegion', 'Dashboard']),
  );
});

test('rejects more actors than fit into one stack', () => {
  const { actors, flows } = manifestIn(LETTERS);
  const [first] = actors as [(typeof actors)[number]];
  const many = Array.from({ length: 40 }, (_, index) => ({ ...first, name: `copy-${index}` }));
  expect(() => stackOf({ actors: [...actors, ...many], flows })).toThrow(
    /^asya: the stack of \d+ actors has \d{3} resources, but CloudFormation allows 500; split the mesh into two/,
  );
});
