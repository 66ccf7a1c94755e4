import { ArnFormat, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import { Grant } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Queue, QueueEncryption, RedrivePermission } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { PlannedQueue } from '../../lib/config/plan/function-plan.ts';
import { grantKey } from './grant-key.ts';

export interface MeshQueueProps {
  /** Names, times and counts, as the mesh was planned. */
  readonly planned: PlannedQueue;
  /**
   * The key that messages are encrypted with at rest.
   * @default SQS encrypts with keys of its own
   */
  readonly encryptionKey?: IKey;
}

/** A queue and the dead-letter queue that is its own and nobody else's. Both take TLS alone. */
export class MeshQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetterQueue: Queue;

  constructor(scope: Construct, id: string, props: MeshQueueProps) {
    super(scope, id);
    const { planned, encryptionKey } = props;
    const { plan } = planned;
    const common = {
      enforceSSL: true,
      // Queues are called by name, so one that was kept would stand in the way of the next of that name.
      removalPolicy: RemovalPolicy.DESTROY,
      ...(encryptionKey === undefined
        ? { encryption: QueueEncryption.SQS_MANAGED }
        : { encryption: QueueEncryption.KMS, encryptionMasterKey: encryptionKey }),
    };
    this.deadLetterQueue = new Queue(this, 'DeadLetters', {
      ...common,
      queueName: planned.deadLetterName,
      visibilityTimeout: Duration.seconds(plan.deadLetterVisibilitySeconds),
      retentionPeriod: Duration.seconds(plan.deadLetterRetentionSeconds),
      redriveAllowPolicy: {
        redrivePermission: RedrivePermission.BY_QUEUE,
        // By name: by reference each of the two would wait for the other.
        sourceQueues: [Queue.fromQueueArn(this, 'Source', this.arnOf(planned.name))],
      },
    });
    this.queue = new Queue(this, 'Queue', {
      ...common,
      queueName: planned.name,
      visibilityTimeout: Duration.seconds(plan.visibilitySeconds),
      retentionPeriod: Duration.seconds(plan.retentionSeconds),
      deadLetterQueue: { queue: this.deadLetterQueue, maxReceiveCount: plan.maxReceiveCount },
    });
  }

  /** What a sidecar does to send: it looks the address up by name, and sends. */
  grantSend(grantee: IGrantable): Grant {
    const { encryptionMasterKey, queueArn } = this.queue;
    grantKey(grantee, encryptionMasterKey);
    return Grant.addToPrincipal({
      grantee,
      actions: [...SEND_ACTIONS],
      resourceArns: [queueArn],
    });
  }

  /** Finding out whether the queue exists, and nothing else. */
  grantLookUp(grantee: IGrantable): Grant {
    return Grant.addToPrincipal({
      grantee,
      actions: ['sqs:GetQueueUrl'],
      resourceArns: [this.queue.queueArn],
    });
  }

  private arnOf(name: string): string {
    return Stack.of(this).formatArn({
      service: 'sqs',
      resource: name,
      arnFormat: ArnFormat.NO_RESOURCE_NAME,
    });
  }
}

export const SEND_ACTIONS = ['sqs:SendMessage', 'sqs:GetQueueUrl'] as const;
