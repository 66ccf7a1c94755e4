import { App, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Key } from 'aws-cdk-lib/aws-kms';
import { beforeAll, describe, expect, test } from 'vitest';
import { MeshStack } from '../../infra/stacks/mesh-stack.ts';
import {
  DEV,
  FLAGS,
  functionOf,
  LETTERS,
  manifestIn,
  nameIn,
  permissionsOf,
  queueCalled,
  queuesFor,
  type Resource,
  resourcesOf,
  STUB_CODE,
  stackOf,
  type TemplateJson,
  templateOf,
} from './a-mesh-stack.ts';

/** Each promise of a deployment, on the template that is deployed. */

let template: TemplateJson;
beforeAll(() => {
  template = templateOf(manifestIn(LETTERS));
});

const ACTORS = ['count', 'store', 'translate', 'review'];
const CREW = ['x-sink', 'x-sump', 'x-dlq'];
const QUEUED = [...ACTORS, 'x-sink', 'x-sump'];
const queue = (actor: string) => queueCalled(template, `asya-dev-letters-${actor}`);
const deadLetters = (actor: string) => queueCalled(template, `asya-dev-letters-${actor}-dlq`);
const all = (type: string): readonly Resource[] => resourcesOf(template, type);
const sourcesOf = (actor: string) => {
  const { id } = functionOf(template, actor);
  return resourcesOf(template, 'AWS::Lambda::EventSourceMapping').filter(
    ({ Properties }) => Properties.FunctionName.Ref === id,
  );
};

describe('queues', () => {
  test('each has a dead-letter queue of its own, which takes from no other', () => {
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

  test('hide a message longer than their function may hold it', () => {
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
    // Five rounds of 10 s and 5 s beside them; 30 s more.
    expect(functionOf(template, 'count').Properties.Timeout).toBe(55);
    expect(queue('count').Properties.VisibilityTimeout).toBe(85);
  });

  test('keep dead letters longer than what died of it', () => {
    for (const actor of QUEUED) {
      const { MessageRetentionPeriod } = deadLetters(actor).Properties;
      expect(MessageRetentionPeriod).toBeGreaterThan(queue(actor).Properties.MessageRetentionPeriod);
    }
  });

  test('take TLS alone and are encrypted', () => {
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
  test('are Node 24 on arm64, and may call each other in circles', () => {
    expect(all('AWS::Lambda::Function').length).toBe(ACTORS.length + CREW.length);
    for (const { Properties } of all('AWS::Lambda::Function')) {
      expect(Properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        RecursiveLoop: 'Allow',
      });
    }
  });

  test('are fed from their queue alone, report single records, and have as many copies as they may', () => {
    for (const actor of QUEUED) {
      const [source, ...others] = sourcesOf(actor);
      expect(others).toEqual([]);
      expect(nameIn(template, source?.Properties.EventSourceArn)).toBe(`asya-dev-letters-${actor}`);
    }
    for (const { Properties } of all('AWS::Lambda::EventSourceMapping')) {
      expect(Properties.FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
      expect(Properties.ScalingConfig.MaximumConcurrency).toBeGreaterThanOrEqual(2);
      // A filter deletes what it does not let through.
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

  test('keep their policies out of the environment', () => {
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

  test('log into a group of their own that does not grow for ever', () => {
    expect(all('AWS::Logs::LogGroup').length).toBe(ACTORS.length + CREW.length);
    for (const { Properties } of all('AWS::Logs::LogGroup')) expect(Properties.RetentionInDays).toBe(7);
    for (const { Properties } of all('AWS::Lambda::Function'))
      expect(Properties.LoggingConfig.LogGroup).toBeDefined();
  });

  test('an environment may lower the copies of all', () => {
    const lowered = templateOf(manifestIn(LETTERS), { environment: { ...DEV, concurrency: 3 } });
    for (const { Properties } of resourcesOf(lowered, 'AWS::Lambda::EventSourceMapping'))
      expect(Properties.ScalingConfig.MaximumConcurrency).toBe(3);
  });
});

describe('permissions', () => {
  const sends = (actor: string) =>
    queuesFor(template, actor, 'sqs:SendMessage').map((name) => name.replace('asya-dev-letters-', ''));

  test('an actor may send to itself, its followers, its rescuers, where it escalates to, and x-sink', () => {
    expect(sends('count')).toEqual(['count', 'review', 'store', 'x-sink', 'letters-escalated']);
    expect(sends('translate')).toEqual(['count', 'store', 'translate', 'x-sink']);
    expect(sends('store')).toEqual(['review', 'store', 'x-sink']);
    expect(sends('review')).toEqual(['review', 'x-sink']);
    expect(sends('x-sink')).toEqual(['x-sink', 'x-sump']);
    expect(sends('x-sump')).toEqual(['x-sump']);
    expect(sends('x-dlq')).toEqual([]);
  });

  test('an actor may touch neither the archive nor the table', () => {
    for (const actor of ACTORS) {
      const actions = permissionsOf(template, actor).map(({ action }) => action);
      expect(actions.filter((action) => !/^(sqs|logs):/.test(action))).toEqual([]);
    }
  });

  test('the crew may keep, and may not delete', () => {
    for (const name of CREW) {
      const actions = new Set(permissionsOf(template, name).map(({ action }) => action));
      const stores = [...actions].filter((action) => !/^(sqs|logs):/.test(action));
      expect(stores.sort()).toEqual([
        'dynamodb:GetItem',
        'dynamodb:PutItem',
        's3:GetObject',
        's3:ListBucket',
        's3:PutObject',
      ]);
    }
  });

  test('nobody may do anything to everything, and nothing comes from a policy of AWS', () => {
    for (const { Properties } of all('AWS::IAM::Role')) expect(Properties.ManagedPolicyArns).toBeUndefined();
    for (const actor of [...ACTORS, ...CREW]) {
      for (const { action, resource } of permissionsOf(template, actor)) {
        expect(action).not.toContain('*');
        if (resource.includes('*')) expect(resource).toMatch(/\/(succeeded|failed|canceled|dlq)\/\*$/);
      }
    }
  });
});

describe('what is kept', () => {
  test('the archive is closed, encrypted and versioned, and speaks TLS alone', () => {
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

  test('the table has its indexes, its expiry and a way back in time', () => {
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

  test('is kept or deleted with the mesh, as the environment says', () => {
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

test('a key of the user’s encrypts queues, archive and table, and those who need it may use it', () => {
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
    // Without the second nobody can send to an encrypted queue or write to the archive.
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

test('outputs are what the operator’s commands read', () => {
  expect(template.Outputs['AsyaNamespace']?.Value).toBe('dev-letters');
  expect(Object.keys(template.Outputs)).toEqual(
    expect.arrayContaining(['AsyaArchiveBucket', 'AsyaFailureTable', 'AsyaAwsRegion', 'Dashboard']),
  );
});

test('more actors than a stack can hold are refused in words', () => {
  const { actors, flows } = manifestIn(LETTERS);
  const [first] = actors as [(typeof actors)[number]];
  const many = Array.from({ length: 40 }, (_, at) => ({ ...first, name: `copy-${at}` }));
  expect(() => stackOf({ actors: [...actors, ...many], flows })).toThrow(
    /^asya: \d+ actors make a stack of \d{3} resources, and CloudFormation takes 500; make two meshes/,
  );
});
