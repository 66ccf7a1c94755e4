import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import { Grant, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import {
  FAILURE_PREFIX,
  FAILURE_TABLE,
  type FailureTableIndex,
} from '../../lib/config/plan/failure-table.ts';
import type { FunctionPlan, PlanSettings } from '../../lib/config/plan/function-plan.ts';
import { planMesh } from '../../lib/config/plan/mesh-plan.ts';
import { defined } from '../../lib/core/text/defined.ts';
import type { MeshCode } from '../code/mesh-code.ts';
import { deadLetterAlarm } from './dead-letter-alarm.ts';
import { grantKey } from './grant-key.ts';
import { meshAlarm } from './mesh-alarm.ts';
import { MeshFunction } from './mesh-function.ts';
import { METRIC_PERIOD } from './mesh-metrics.ts';
import { MeshQueue } from './mesh-queue.ts';

export interface CrewProps {
  /** Settings of the mesh's plan without `storage`: this construct creates the archive and the table. */
  readonly settings: Omit<PlanSettings, 'storage'>;
  /** Provides the code of the crew's functions. */
  readonly code: MeshCode;
  /**
   * KMS key for the crew's queues, the archive and the failure table.
   * @default each service encrypts with its own key
   */
  readonly encryptionKey?: IKey;
  /**
   * What happens to the archive, the failure table and the logs when the mesh is deleted.
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;
  /**
   * How long the logs of the crew's functions are kept.
   * @default RetentionDays.ONE_MONTH
   */
  readonly logRetention?: RetentionDays;
  /**
   * Deletes archived envelopes after this time.
   * @default archived envelopes are never deleted
   */
  readonly archiveExpiry?: Duration;
  /**
   * SNS topic that is notified when an alarm starts and when it is over.
   * @default no notifications; the alarms are visible in the console only
   */
  readonly alarmTopic?: ITopic;
}

/** Top-level folders of the archive. `lib/core/failure/record.ts` builds the keys. */
export const ARCHIVE_FOLDERS = ['succeeded', 'failed', 'canceled', 'dlq'] as const;

/** x-sink, x-sump and x-dlq, with the archive and the failure table that they write. */
export class Crew extends Construct {
  readonly sink: MeshQueue;
  readonly sump: MeshQueue;
  readonly archive: Bucket;
  readonly failures: Table;
  readonly functions: readonly MeshFunction[];
  private readonly deadLetters: MeshFunction;

  constructor(scope: Construct, id: string, props: CrewProps) {
    super(scope, id);
    const { settings, alarmTopic } = props;
    this.archive = archiveOf(this, props);
    this.failures = failuresOf(this, props);
    const plans = new Map(
      planMesh({ actors: [], flows: [] }, { ...settings, storage: this.storageOf(props) }).functions.map(
        (plan) => [plan.actor, plan],
      ),
    );
    const planOf = (name: string) => plans.get(name) as FunctionPlan;
    this.sink = this.queueOf('SinkQueue', planOf('x-sink'), props);
    this.sump = this.queueOf('SumpQueue', planOf('x-sump'), props);
    const sink = this.functionOf('Sink', planOf('x-sink'), props);
    const sump = this.functionOf('Sump', planOf('x-sump'), props);
    this.deadLetters = this.functionOf('DeadLetters', planOf('x-dlq'), props);
    this.functions = [sink, sump, this.deadLetters];
    sink.consume(this.sink.queue);
    sump.consume(this.sump.queue);
    // A delivery that is not yet due, or for which the function has no time left, is sent to its own queue again.
    this.sink.grantSend(sink);
    this.sump.grantSend(sump);
    this.sump.grantSend(sink);
    for (const { deadLetterQueue } of [this.sink, this.sump]) this.drain(deadLetterQueue);
    this.addAlarms(planOf('x-sink'), planOf('x-sump'), alarmTopic);
  }

  /** Names of the archive bucket and the failure table, for the functions' environment. */
  get storage(): { readonly bucket: string; readonly table: string } {
    return { bucket: this.archive.bucketName, table: this.failures.tableName };
  }

  /** Adds a dead-letter queue to those that x-dlq drains. */
  drain(deadLetterQueue: IQueue): void {
    this.deadLetters.consume(deadLetterQueue);
  }

  /**
   * Grants what `asya failures`, `asya replay` and `asya purge` need from the crew: access to the table and the archive,
   * and sending to x-sink and x-sump. A replay sends their own dead letters back to them.
   */
  grantOperate(grantee: IGrantable): Grant {
    const { failures, archive, sink, sump } = this;
    grantKey(grantee, failures.encryptionKey);
    const indexes = FAILURE_TABLE.indexes.map(({ name }) => `${failures.tableArn}/index/${name}`);
    const objects = ARCHIVE_FOLDERS.map((folder) => archive.arnForObjects(`${folder}/*`));
    return Grant.addToPrincipal({
      grantee,
      actions: ['dynamodb:GetItem', 'dynamodb:UpdateItem', 'dynamodb:DeleteItem'],
      resourceArns: [failures.tableArn],
    })
      .combine(Grant.addToPrincipal({ grantee, actions: ['dynamodb:Query'], resourceArns: indexes }))
      .combine(
        Grant.addToPrincipal({
          grantee,
          actions: ['s3:GetObject', 's3:DeleteObject'],
          resourceArns: objects,
        }),
      )
      .combine(
        Grant.addToPrincipal({ grantee, actions: ['s3:ListBucket'], resourceArns: [archive.bucketArn] }),
      )
      .combine(sink.grantSend(grantee))
      .combine(sump.grantSend(grantee));
  }

  private storageOf({ encryptionKey }: CrewProps): PlanSettings['storage'] {
    return { ...this.storage, ...(encryptionKey !== undefined && { kmsKey: encryptionKey.keyArn }) };
  }

  private queueOf(id: string, plan: FunctionPlan, { encryptionKey }: CrewProps): MeshQueue {
    if (plan.queue === undefined) throw new Error(`asya: the plan of "${plan.actor}" has no queue`);
    return new MeshQueue(this, id, {
      planned: plan.queue,
      ...defined({ encryptionKey }),
    });
  }

  private functionOf(id: string, plan: FunctionPlan, props: CrewProps): MeshFunction {
    const { code, logRetention, removalPolicy } = props;
    const made = new MeshFunction(this, id, {
      plan,
      code: code.crew(this, plan.folder),
      ...defined({ logRetention }),
      removalPolicy: removalPolicy ?? RemovalPolicy.RETAIN,
    });
    for (const statement of this.storageStatements()) made.role.addToPolicy(statement);
    grantKey(made, props.encryptionKey);
    return made;
  }

  /** All three functions claim a record, check whether the envelope is archived, archive it, and resolve failures. */
  private storageStatements(): readonly PolicyStatement[] {
    return [
      new PolicyStatement({
        actions: ['dynamodb:GetItem', 'dynamodb:PutItem'],
        resources: [this.failures.tableArn],
      }),
      // The end of a replay is recorded with the failure that was replayed.
      new PolicyStatement({
        actions: ['dynamodb:Query'],
        resources: [`${this.failures.tableArn}/index/${'by-envelope' satisfies FailureTableIndex}`],
      }),
      new PolicyStatement({
        actions: ['dynamodb:UpdateItem'],
        resources: [this.failures.tableArn],
        conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [`${FAILURE_PREFIX}*`] } },
      }),
      new PolicyStatement({
        actions: ['s3:GetObject', 's3:PutObject'],
        resources: ARCHIVE_FOLDERS.map((folder) => this.archive.arnForObjects(`${folder}/*`)),
      }),
      // Without this permission S3 answers 403 instead of 404 for a missing key.
      new PolicyStatement({ actions: ['s3:ListBucket'], resources: [this.archive.bucketArn] }),
    ];
  }

  private addAlarms(sinkPlan: FunctionPlan, sumpPlan: FunctionPlan, topic: ITopic | undefined): void {
    deadLetterAlarm(this.sink, sinkPlan.queue?.name ?? '', this.sink.deadLetterQueue, topic);
    deadLetterAlarm(this.sump, sumpPlan.queue?.name ?? '', this.sump.deadLetterQueue, topic);
    meshAlarm(this, 'ReceivingAlarm', {
      name: `${sumpPlan.queue?.name}-receiving`,
      description: 'Envelopes have failed permanently. `asya failures` lists them.',
      metric: this.sump.queue.metricNumberOfMessagesSent({ period: METRIC_PERIOD, statistic: 'Sum' }),
      threshold: 1,
      ...defined({ topic }),
    });
  }
}

function archiveOf(scope: Construct, props: CrewProps): Bucket {
  const { encryptionKey, removalPolicy = RemovalPolicy.RETAIN, archiveExpiry } = props;
  return new Bucket(scope, 'Archive', {
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    versioned: true,
    ...(encryptionKey === undefined
      ? { encryption: BucketEncryption.S3_MANAGED }
      : { encryption: BucketEncryption.KMS, encryptionKey, bucketKeyEnabled: true }),
    lifecycleRules: [
      {
        id: 'cleanup',
        abortIncompleteMultipartUploadAfter: Duration.days(1),
        noncurrentVersionExpiration: Duration.days(30),
        expiredObjectDeleteMarker: archiveExpiry === undefined,
      },
      ...(archiveExpiry === undefined ? [] : [{ id: 'expiry', expiration: archiveExpiry }]),
    ],
    removalPolicy,
  });
}

function failuresOf(scope: Construct, props: CrewProps): Table {
  const { encryptionKey, removalPolicy = RemovalPolicy.RETAIN } = props;
  const attribute = ({ name, type }: { readonly name: string; readonly type: 'S' | 'N' }) => ({
    name,
    type: type === 'S' ? AttributeType.STRING : AttributeType.NUMBER,
  });
  const table = new Table(scope, 'Failures', {
    partitionKey: attribute(FAILURE_TABLE.key),
    billingMode: BillingMode.PAY_PER_REQUEST,
    timeToLiveAttribute: FAILURE_TABLE.expiry,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    ...(encryptionKey === undefined
      ? { encryption: TableEncryption.DEFAULT }
      : { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey }),
    removalPolicy,
  });
  for (const { name, hash, range } of FAILURE_TABLE.indexes) {
    table.addGlobalSecondaryIndex({
      indexName: name,
      partitionKey: attribute(hash),
      sortKey: attribute(range),
    });
  }
  return table;
}
