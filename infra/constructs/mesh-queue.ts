import { ArnFormat, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import { Grant } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Queue, QueueEncryption, RedrivePermission } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { PlannedQueue } from '../../lib/config/plan/function-plan.ts';
import { grantKey } from './grant-key.ts';

export interface MeshQueueProps {
  /** Names, timeouts and limits of the two queues, from `planMesh`. */
  readonly planned: PlannedQueue;
  /**
   * KMS key that encrypts messages at rest.
   * @default SQS encrypts with its own key
   */
  readonly encryptionKey?: IKey;
}

/** A queue with its own dead-letter queue. Both accept only TLS connections. */
export class MeshQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetterQueue: Queue;

  constructor(scope: Construct, id: string, props: MeshQueueProps) {
    super(scope, id);
    const { planned, encryptionKey } = props;
    const { plan } = planned;
    const common = {
      enforceSSL: true,
      // Queue names are fixed, so a retained queue would block the next deployment with the same name.
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
        // By name, because references in both directions would be a circular dependency.
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

  /** Allows the grantee to look up the queue's URL by name and to send to it. */
  grantSend(grantee: IGrantable): Grant {
    const { encryptionMasterKey, queueArn } = this.queue;
    grantKey(grantee, encryptionMasterKey);
    return Grant.addToPrincipal({
      grantee,
      actions: [...SEND_ACTIONS],
      resourceArns: [queueArn],
    });
  }

  /** Allows the grantee to check whether the queue exists. */
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

/** The actions that sending needs: looking up the queue's URL by name, and the send itself. */
export const SEND_ACTIONS = ['sqs:SendMessage', 'sqs:GetQueueUrl'] as const;
