import { Lazy, type RemovalPolicy, Tags } from 'aws-cdk-lib';
import {
  type Alarm,
  type IMetric,
  MathExpression,
  type Metric,
  type MetricOptions,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Grant, IGrantable, IPrincipal, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { FunctionPlan, PlannedQueue } from '../../lib/config/plan/function-plan.ts';
import { metricsService } from '../../lib/core/delivery/metric-name.ts';
import type { FailedReason, Result } from '../../lib/core/delivery/plan.ts';
import { defined } from '../../lib/core/text/defined.ts';
import type { FunctionCode } from '../code/mesh-code.ts';
import { deadLetterAlarm } from './dead-letter-alarm.ts';
import { grantSecrets } from './grant-secrets.ts';
import { HandlerRole } from './handler-role.ts';
import { meshAlarm } from './mesh-alarm.ts';
import { MeshFunction } from './mesh-function.ts';
import { FAILED_REASONS, METRIC_PERIOD, meshMetric } from './mesh-metrics.ts';
import { MeshQueue } from './mesh-queue.ts';

export interface ActorProps {
  /** The actor's part of `planMesh`. It must have a queue. `ActorMesh` passes it for you. */
  readonly plan: FunctionPlan & { readonly queue?: PlannedQueue };
  /** The code of the sidecar's function, with the handler in it. */
  readonly code: FunctionCode;
  /**
   * KMS key that encrypts messages at rest.
   * @default SQS encrypts with its own key
   */
  readonly encryptionKey?: IKey;
  /**
   * How long the function's logs are kept.
   * @default RetentionDays.ONE_MONTH
   */
  readonly logRetention?: RetentionDays;
  /**
   * What happens to the logs when the actor is deleted. Its queues are always deleted.
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;
  /**
   * SNS topic that is notified when an alarm starts and when it is over.
   * @default no notifications; the alarms are visible in the console only
   */
  readonly alarmTopic?: ITopic;
}

/** Threshold of the alarm `failed`: failed deliveries in percent of the received ones. */
const FAILED_PERCENT = 5;
/** Threshold of the alarm `slow`, as a share of the actor timeout. */
const SLOW_SHARE = 0.8;
/** Threshold of the alarm `oldest`, as a share of the flow's timeout. The other half is left to react. */
const OLDEST_SHARE = 0.5;

/**
 * One actor: its queue, its function, the event source between them, and its alarms. As a grantee it is the handler, with
 * a role of its own: `bucket.grantPut(actor)`. The role of the function is for the queues only.
 */
export class Actor extends Construct implements IGrantable {
  readonly actorName: string;
  readonly queue: Queue;
  readonly deadLetterQueue: Queue;
  readonly function: LambdaFunction;
  readonly plan: FunctionPlan;
  private readonly meshQueue: MeshQueue;
  private readonly meshFunction: MeshFunction;
  private readonly alarmTopic: ITopic | undefined;
  private handler: HandlerRole | undefined;
  private flowTimeoutSeconds: number | undefined;

  constructor(scope: Construct, id: string, props: ActorProps) {
    super(scope, id);
    const { plan, code, encryptionKey, alarmTopic, ...logs } = props;
    if (plan.queue === undefined)
      throw new Error(`asya: the plan of actor "${plan.actor}" has no queue; pass a plan from planMesh()`);
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
    grantSecrets(this, this.meshFunction, plan);
    this.addAlarms();
    for (const [key, value] of Object.entries(plan.labels ?? {})) Tags.of(this).add(key, value);
  }

  /** The handler's role. It is created when it is first used: a handler without permissions has no role. */
  get grantPrincipal(): IPrincipal {
    this.handler ??= new HandlerRole(this, 'Handler', this.meshFunction);
    return this.handler.role;
  }

  /** Adds a statement to the policy of the handler's role. */
  addToHandlerPolicy(statement: PolicyStatement): void {
    this.grantPrincipal.addToPrincipalPolicy(statement);
  }

  /** Allows the grantee to look up this actor's queue and to send envelopes to it. */
  grantSend(grantee: IGrantable): Grant {
    return this.meshQueue.grantSend(grantee);
  }

  /** Adds the alarm `oldest` for a flow with this timeout. If several flows pass this actor, the shortest timeout counts. */
  addFlowTimeout(seconds: number): void {
    const isFirst = this.flowTimeoutSeconds === undefined;
    this.flowTimeoutSeconds = Math.min(seconds, this.flowTimeoutSeconds ?? seconds);
    if (!isFirst) return;
    this.addAlarm('OldestAlarm', 'oldest', {
      description: "Envelopes wait in this queue for half of their flow's timeout or longer.",
      metric: this.metricOldestAge(),
      threshold: Lazy.number({ produce: () => Math.ceil((this.flowTimeoutSeconds ?? 0) * OLDEST_SHARE) }),
    });
  }

  /** Number of received deliveries. */
  metricReceived(): Metric {
    return this.metric('messages_received_total', { transport: 'sqs' }, 'Sum');
  }

  /** Number of deliveries with this result. */
  metricResult(result: Result): Metric {
    return this.metric('messages_total', { result }, 'Sum');
  }

  /** Number of deliveries that were sent again for a retry. */
  metricRetried(): Metric {
    return this.metricResult('retried');
  }

  /** Number of envelopes whose flow's timeout expired at this actor. */
  metricSlaMisses(): Metric {
    return this.metricResult('sla_expired');
  }

  /** Number of deliveries that failed for this reason. */
  metricFailed(reason: FailedReason): Metric {
    return this.metric('messages_failed_total', { reason }, 'Sum');
  }

  /** Duration of calls in seconds, as a percentile such as `p99`. */
  metricDuration(percentile: string): Metric {
    return this.metric('runtime_execution_duration_seconds', {}, percentile, percentile);
  }

  /** Failed deliveries in percent of the received ones. */
  metricFailedPercent(): MathExpression {
    const failed = FAILED_REASONS.map((reason, index) => [`f${index}`, this.metricFailed(reason)] as const);
    const sum = failed.map(([id]) => `FILL(${id}, 0)`).join(' + ');
    return new MathExpression({
      expression: `100 * (${sum}) / received`,
      usingMetrics: { received: this.metricReceived(), ...Object.fromEntries(failed) },
      period: METRIC_PERIOD,
      label: 'failed, %',
    });
  }

  /** Age of the oldest message in the queue, in seconds. */
  metricOldestAge(options: MetricOptions = {}): Metric {
    return this.queue.metricApproximateAgeOfOldestMessage({
      period: METRIC_PERIOD,
      statistic: 'Maximum',
      ...options,
    });
  }

  /** Number of messages in the dead-letter queue. */
  metricDeadLetters(options: MetricOptions = {}): Metric {
    return this.deadLetterQueue.metricApproximateNumberOfMessagesVisible({
      period: METRIC_PERIOD,
      statistic: 'Maximum',
      ...options,
    });
  }

  /** Concurrent executions of the function. */
  metricConcurrency(options: MetricOptions = {}): Metric {
    return this.meshFunction.metricConcurrency({ period: METRIC_PERIOD, ...options });
  }

  /** Invocations that Lambda throttled because of a concurrency limit. */
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
      namespace: metricsService(config.namespace),
      name,
      labels: { queue: queue?.name ?? '', ...labels },
      statistic,
      label,
    });
  }

  private addAlarms(): void {
    deadLetterAlarm(this, this.plan.queue?.name ?? '', this.deadLetterQueue, this.alarmTopic);
    this.addAlarm('FailedAlarm', 'failed', {
      description: `At least ${FAILED_PERCENT}% of deliveries have failed for 15 minutes.`,
      metric: this.metricFailedPercent(),
      threshold: FAILED_PERCENT,
      periods: 3,
    });
    this.addAlarm('ThrottledAlarm', 'throttled', {
      description:
        "Lambda has throttled invocations for 15 minutes, because the account's concurrency is used up.",
      metric: this.metricThrottles(),
      threshold: 1,
      periods: 3,
    });
    const timeoutSeconds = this.plan.config.actor.timeoutMs / 1000;
    this.addAlarm('SlowAlarm', 'slow', {
      description: `For 15 minutes, the slowest 1% of calls have taken at least ${SLOW_SHARE * 100}% of their timeout of ${timeoutSeconds} s.`,
      metric: this.metricDuration('p99'),
      threshold: timeoutSeconds * SLOW_SHARE,
      periods: 3,
    });
  }

  private addAlarm(
    id: string,
    suffix: string,
    options: { description: string; metric: IMetric; threshold: number; periods?: number },
  ): Alarm {
    const { queue } = this.plan;
    return meshAlarm(this, id, {
      name: `${queue?.name}-${suffix}`,
      ...options,
      ...defined({ topic: this.alarmTopic }),
    });
  }
}
