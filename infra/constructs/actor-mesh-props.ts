import { type Duration, type RemovalPolicy, Stack } from 'aws-cdk-lib';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Manifest } from '../../lib/config/manifest/manifest.ts';
import type { PlanSettings } from '../../lib/config/plan/function-plan.ts';
import { defined } from '../../lib/core/text/defined.ts';
import type { MeshCode } from '../code/mesh-code.ts';

export interface ActorMeshProps {
  /** Environment and mesh, `dev-hello`: queues are called `asya-{namespace}-{actor}`. */
  readonly namespace: string;
  /**
   * Actors and flows, as their folder says them.
   * @default none; they are added by `addActor` and `addFlow`
   */
  readonly manifest?: Manifest;
  /**
   * The folder that handlers are found from.
   * @default the one that the app is run in
   */
  readonly folder?: string;
  /**
   * The key for queues, archive and table.
   * @default the services encrypt with keys of their own
   */
  readonly encryptionKey?: IKey;
  /**
   * What becomes of archive, table and logs when the mesh is removed. Queues always go with their actor.
   * @default they are kept
   */
  readonly removalPolicy?: RemovalPolicy;
  /**
   * How long logs are kept.
   * @default one month
   */
  readonly logRetention?: RetentionDays;
  /**
   * After how long archived envelopes are deleted.
   * @default they are kept
   */
  readonly archiveExpiry?: Duration;
  /**
   * Who is written to when an alarm goes off; has to confirm once.
   * @default nobody; subscribe to `alarmTopic`
   */
  readonly alarmEmail?: string;
  /**
   * No function has more copies at once, whatever its manifest says.
   * @default as many as each actor's `maxReplicas`
   */
  readonly concurrency?: number;
  /**
   * Deliveries without an ack, before the dead-letter queue takes an envelope.
   * @default 5, which is the least
   */
  readonly maxReceiveCount?: number;
  /**
   * How long queues keep what nobody takes.
   * @default four days
   */
  readonly retention?: Duration;
  /**
   * How long dead-letter queues do; longer than the queues.
   * @default 14 days, which is the most
   */
  readonly deadLetterRetention?: Duration;
  /**
   * The least that is logged.
   * @default info
   */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
  /**
   * Where functions get their code.
   * @default it is bundled from this package and the mesh's folder
   */
  readonly code?: MeshCode;
}

/** What the plan of a mesh has to know of its properties. */
export function settingsOf(scope: Construct, props: ActorMeshProps): Omit<PlanSettings, 'storage'> {
  const { namespace, logLevel, concurrency, maxReceiveCount, retention, deadLetterRetention } = props;
  return {
    namespace,
    region: Stack.of(scope).region,
    ...defined({ logLevel, mostReplicas: concurrency }),
    queues: {
      ...defined({ maxReceiveCount }),
      ...(retention !== undefined && { retentionSeconds: retention.toSeconds() }),
      ...(deadLetterRetention !== undefined && {
        deadLetterRetentionSeconds: deadLetterRetention.toSeconds(),
      }),
    },
  };
}
