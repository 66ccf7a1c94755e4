import { Lazy, type RemovalPolicy, Tags } from 'aws-cdk-lib';
import {
  type Alarm,
  type IMetric,
  MathExpression,
  type Metric,
  type MetricOptions,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Grant, IGrantable, IPrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { FunctionPlan, PlannedQueue } from '../../lib/config/plan/function-plan.ts';
import type { FailedReason, Result } from '../../lib/core/delivery/plan.ts';
import { defined } from '../../lib/core/text/defined.ts';
import type { FunctionCode } from '../code/mesh-code.ts';
import { deadLetterAlarm } from './dead-letter-alarm.ts';
import { meshAlarm } from './mesh-alarm.ts';
import { MeshFunction } from './mesh-function.ts';
import { FAILED_REASONS, METRIC_PERIOD, meshMetric } from './mesh-metrics.ts';
import { MeshQueue } from './mesh-queue.ts';

export interface ActorProps {
  /** As `planMesh` says it; `ActorMesh` does this for you. */
  readonly plan: FunctionPlan & { readonly queue?: PlannedQueue };
  readonly code: FunctionCode;
  /**
   * The key that messages are encrypted with at rest.
   * @default SQS encrypts with keys of its own
   */
  readonly encryptionKey?: IKey;
  /**
   * How long its logs are kept.
   * @default one month
   */
  readonly logRetention?: RetentionDays;
  /**
   * What becomes of its logs when it is removed.
   * @default they are kept
   */
  readonly removalPolicy?: RemovalPolicy;
  /**
   * Whom its alarms tell.
   * @default nobody; they are seen on the console alone
   */
  readonly alarmTopic?: ITopic;
}

/** Deliveries that fail among those received, in percent, before somebody is told. */
const FAILED_PERCENT = 5;
/** Of the time that a call may take. */
const NEAR_THE_TIMEOUT = 0.8;
/** Of the time that a flow promises: so that there is some left to act. */
const NEAR_THE_PROMISE = 0.5;

/** One actor: its queue, its function, what feeds the one from the other, and its alarms. */
export class Actor extends Construct implements IGrantable {
  readonly actorName: string;
  readonly queue: Queue;
  readonly deadLetterQueue: Queue;
  readonly function: LambdaFunction;
  readonly plan: FunctionPlan;
  private readonly meshQueue: MeshQueue;
  private readonly meshFunction: MeshFunction;
  private readonly alarmTopic: ITopic | undefined;
  private promisedSeconds: number | undefined;

  constructor(scope: Construct, id: string, props: ActorProps) {
    super(scope, id);
    const { plan, code, encryptionKey, alarmTopic, ...logs } = props;
    if (plan.queue === undefined) throw new Error(`asya: "${plan.actor}" is planned without a queue`);
    this.plan = plan;
    this.actorName = plan.actor;
    this.alarmTopic = alarmTopic;
    this.meshQueue = new MeshQueue(this, 'Queue', {
      planned: plan.queue,
      ...defined({ encryptionKey }),
    });
    this.queue = this.meshQueue.queue;
    this.deadLetterQueue = this.meshQueue.deadLetterQueue;
    this.meshFunction = new MeshFunction(this, 'Sidecar', { plan, code, ...logs });
    this.function = this.meshFunction.function;
    this.meshFunction.consume(this.queue);
    this.addAlarms();
    for (const [key, value] of Object.entries(plan.labels ?? {})) Tags.of(this).add(key, value);
  }

  get grantPrincipal(): IPrincipal {
    return this.meshFunction.role;
  }

  /** Lets somebody send envelopes to this actor. */
  grantSend(grantee: IGrantable): Grant {
    return this.meshQueue.grantSend(grantee);
  }

  /** An envelope that comes through here has to be at its end within so many seconds. The shortest promise counts. */
  promise(seconds: number): void {
    const isFirst = this.promisedSeconds === undefined;
    this.promisedSeconds = Math.min(seconds, this.promisedSeconds ?? seconds);
    if (!isFirst) return;
    this.addAlarm('OldestAlarm', 'oldest', {
      description: "Envelopes wait here for half of the time that their flow's timeout gives them in all.",
      metric: this.metricOldestAge(),
      threshold: Lazy.number({ produce: () => Math.ceil((this.promisedSeconds ?? 0) * NEAR_THE_PROMISE) }),
    });
  }

  /** Deliveries received. */
  metricReceived(): Metric {
    return this.metric('messages_received_total', { transport: 'sqs' }, 'Sum');
  }

  /** Deliveries by what became of them. */
  metricResult(result: Result): Metric {
    return this.metric('messages_total', { result }, 'Sum');
  }

  metricRetried(): Metric {
    return this.metricResult('retried');
  }

  /** Envelopes whose flow's timeout had run out here. */
  metricSlaMisses(): Metric {
    return this.metricResult('sla_expired');
  }

  metricFailed(reason: FailedReason): Metric {
    return this.metric('messages_failed_total', { reason }, 'Sum');
  }

  /** How long calls took, in seconds: a percentile, such as `p99`. */
  metricDuration(percentile: string): Metric {
    return this.metric('runtime_execution_duration_seconds', {}, percentile, percentile);
  }

  /** Of the deliveries received, how many in a hundred failed. */
  metricFailedPercent(): MathExpression {
    const failed = FAILED_REASONS.map((reason, at) => [`f${at}`, this.metricFailed(reason)] as const);
    const sum = failed.map(([id]) => `FILL(${id}, 0)`).join(' + ');
    return new MathExpression({
      expression: `100 * (${sum}) / received`,
      usingMetrics: { received: this.metricReceived(), ...Object.fromEntries(failed) },
      period: METRIC_PERIOD,
      label: 'failed, %',
    });
  }

  metricOldestAge(options: MetricOptions = {}): Metric {
    return this.queue.metricApproximateAgeOfOldestMessage({
      period: METRIC_PERIOD,
      statistic: 'Maximum',
      ...options,
    });
  }

  metricDeadLetters(options: MetricOptions = {}): Metric {
    return this.deadLetterQueue.metricApproximateNumberOfMessagesVisible({
      period: METRIC_PERIOD,
      statistic: 'Maximum',
      ...options,
    });
  }

  metricConcurrency(options: MetricOptions = {}): Metric {
    return this.meshFunction.metricConcurrency({ period: METRIC_PERIOD, ...options });
  }

  metricThrottles(options: MetricOptions = {}): Metric {
    return this.meshFunction.metricThrottles({ period: METRIC_PERIOD, ...options });
  }

  private metric(
    name: Parameters<typeof meshMetric>[0]['name'],
    labels: Readonly<Record<string, string>>,
    statistic: string,
    label: string = this.actorName,
  ): Metric {
    const { queue, config } = this.plan;
    return meshMetric({
      namespace: config.namespace ?? 'asya',
      name,
      labels: { queue: queue?.name ?? '', ...labels },
      statistic,
      label,
    });
  }

  private addAlarms(): void {
    deadLetterAlarm(this, this.plan.queue?.name ?? '', this.deadLetterQueue, this.alarmTopic);
    this.addAlarm('FailedAlarm', 'failed', {
      description: `Of the envelopes that came, ${FAILED_PERCENT} in a hundred failed, for a quarter of an hour.`,
      metric: this.metricFailedPercent(),
      threshold: FAILED_PERCENT,
      periods: 3,
    });
    this.addAlarm('ThrottledAlarm', 'throttled', {
      description:
        'Lambda refuses invocations: the account has not enough concurrency for what may run at once.',
      metric: this.metricThrottles(),
      threshold: 1,
      periods: 3,
    });
    const timeoutSeconds = this.plan.config.actor.timeoutMs / 1000;
    this.addAlarm('SlowAlarm', 'slow', {
      description: `One call in a hundred takes ${NEAR_THE_TIMEOUT * 100}% of its timeout of ${timeoutSeconds} s, or more.`,
      metric: this.metricDuration('p99'),
      threshold: timeoutSeconds * NEAR_THE_TIMEOUT,
      periods: 3,
    });
  }

  private addAlarm(
    id: string,
    suffix: string,
    what: { description: string; metric: IMetric; threshold: number; periods?: number },
  ): Alarm {
    const { queue } = this.plan;
    return meshAlarm(this, id, {
      name: `${queue?.name}-${suffix}`,
      ...what,
      ...defined({ topic: this.alarmTopic }),
    });
  }
}
