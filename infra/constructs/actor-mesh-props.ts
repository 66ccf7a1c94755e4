import { type Duration, type RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Manifest } from '../../lib/config/manifest/manifest.ts';
import type { PlanSettings, SqsClientName } from '../../lib/config/plan/function-plan.ts';
import type { ArchiveChoice } from '../../lib/core/failure/archiving.ts';
import { defined } from '../../lib/core/text/defined.ts';
import type { MeshCode } from '../code/mesh-code.ts';

export interface ActorMeshProps {
  /**
   * Prefix of all names: queues are named `asya-{namespace}-{actor}`, the dashboard `asya-{namespace}`. Use environment
   * and mesh, for example `dev-hello`, so that several meshes can share an account. Must be a DNS label (`a-z`, `0-9`,
   * `-`). The name of the longest dead-letter queue must not exceed 80 characters.
   */
  readonly namespace: string;
  /**
   * Actors and flows, as read from a mesh's folder.
   * @default no actors and no flows; add them with `addActor` and `addFlow`
   */
  readonly manifest?: Manifest;
  /**
   * The folder that handlers are resolved from.
   * @default the current working directory of the CDK app
   */
  readonly folder?: string;
  /**
   * KMS key for the queues, the archive, the failure table and the gateway's secrets.
   * @default each service encrypts with its own key
   */
  readonly encryptionKey?: IKey;
  /**
   * What happens to the archive, the failure table, the logs and the gateway's secrets when the stack is deleted. Queues
   * are always deleted with their actor.
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;
  /**
   * How long the logs of all functions are kept.
   * @default RetentionDays.ONE_MONTH
   */
  readonly logRetention?: RetentionDays;
  /**
   * Deletes archived envelopes after this time.
   * @default archived envelopes are never deleted
   */
  readonly archiveExpiry?: Duration;
  /**
   * Which ended envelopes are archived. With `failed`, an envelope that succeeded leaves a record of its end, but no
   * payload, unless it is the result of a task at the gateway.
   * @default 'all'
   */
  readonly archive?: ArchiveChoice;
  /**
   * How long x-sink collects up to 100 ended envelopes, to archive those that succeeded together. It makes them cheaper
   * at more than a few per second, and delays every end by as much. At most 5 minutes, in whole seconds.
   * @default Duration.seconds(0); as many as arrive at once are archived together, up to 10
   */
  readonly archiveWindow?: Duration;
  /**
   * Email address that is subscribed to the alarm topic. The recipient has to confirm the subscription once.
   * @default no subscription; add your own to `alarmTopic`
   */
  readonly alarmEmail?: string;
  /**
   * Upper limit for the concurrent executions of each function that consumes a queue, in addition to each actor's
   * `maxReplicas`. At least 2, the minimum of an SQS event source.
   * @default only each actor's `maxReplicas` applies
   */
  readonly concurrency?: number;
  /**
   * Maximum number of concurrent executions of x-sink, x-sump and x-dlq each, from 2 to 1000. x-sink stores every
   * envelope that ends: with the default it keeps up with more than a thousand per second.
   * @default 10
   */
  readonly crewConcurrency?: number;
  /**
   * Number of deliveries without an acknowledgement after which SQS moves a message to the dead-letter queue. From 5 to
   * 1000. Polls that Lambda throttles count as deliveries, so a lower number would dead-letter messages that never
   * failed.
   * @default 5
   */
  readonly maxReceiveCount?: number;
  /**
   * How long queues keep messages that no function processes. At least one minute.
   * @default Duration.days(4)
   */
  readonly retention?: Duration;
  /**
   * How long dead-letter queues keep messages. Longer than `retention`, because a dead-lettered message keeps its age; at
   * most 14 days.
   * @default Duration.days(14)
   */
  readonly deadLetterRetention?: Duration;
  /**
   * The lowest level that the functions log.
   * @default 'info'
   */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
  /**
   * The client of SQS in the functions: `slim`, which is part of this package and starts faster, or `sdk`, the AWS SDK.
   * @default 'slim'
   */
  readonly sqsClient?: SqsClientName;
  /**
   * Provides the code of the functions. It has to contain the AWS SDK if `sqsClient` is `sdk`.
   * @default code is bundled from this package and from `folder`
   */
  readonly code?: MeshCode;
}

/** The settings of `planMesh` that follow from the props. */
export function settingsOf(scope: Construct, props: ActorMeshProps): Omit<PlanSettings, 'storage'> {
  const { namespace, logLevel, concurrency, crewConcurrency, sqsClient } = props;
  const { maxReceiveCount, retention, deadLetterRetention, archive: archives, archiveWindow } = props;
  return {
    namespace,
    region: Stack.of(scope).region,
    account: Stack.of(scope).account,
    ...defined({ logLevel, sqsClient, replicaLimit: concurrency, crewReplicas: crewConcurrency, archives }),
    ...(archiveWindow !== undefined && { archiveWindowSeconds: archiveWindow.toSeconds() }),
    queues: {
      ...defined({ maxReceiveCount }),
      ...(retention !== undefined && { retentionSeconds: retention.toSeconds() }),
      ...(deadLetterRetention !== undefined && {
        deadLetterRetentionSeconds: deadLetterRetention.toSeconds(),
      }),
    },
  };
}
