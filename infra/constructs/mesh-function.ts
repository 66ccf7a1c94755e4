import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import type { MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import {
  type IGrantable,
  type IPrincipal,
  PolicyStatement,
  Role,
  ServicePrincipal,
} from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  DockerImageFunction,
  Function as LambdaFunction,
  RecursiveLoop,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { FunctionPlan } from '../../lib/config/plan/function-plan.ts';
import { lambdaEnvironment } from '../../lib/config/plan/lambda-environment.ts';
import { defined } from '../../lib/core/text/defined.ts';
import type { FunctionCode } from '../code/mesh-code.ts';
import { METRIC_PERIOD } from './mesh-metrics.ts';

export interface MeshFunctionProps {
  /** Time, memory, batches and environment, as the mesh was planned. */
  readonly plan: FunctionPlan;
  readonly code: FunctionCode;
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
   * The most invocations at once, set aside for it from the account's. Not for one that a queue feeds: throttled polls
   * count as receives.
   * @default as many as the account has left
   */
  readonly mostAtOnce?: number;
}

/**
 * A function of the mesh: with a role of its own that may write its logs and nothing else until it is granted, and
 * without Lambda's loop guard, which would stop the 17th retry.
 */
export class MeshFunction extends Construct implements IGrantable {
  readonly function: LambdaFunction;
  readonly role: Role;
  readonly logGroup: LogGroup;
  readonly plan: FunctionPlan;

  constructor(scope: Construct, id: string, props: MeshFunctionProps) {
    super(scope, id);
    const { plan, code, logRetention = RetentionDays.ONE_MONTH, mostAtOnce } = props;
    this.plan = plan;
    this.logGroup = new LogGroup(this, 'Logs', {
      retention: logRetention,
      removalPolicy: props.removalPolicy ?? RemovalPolicy.RETAIN,
    });
    this.role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') });
    this.role.addToPolicy(
      new PolicyStatement({
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [this.logGroup.logGroupArn],
      }),
    );
    const common = {
      description: `asya: ${plan.actor}${plan.config.namespace === undefined ? '' : ` of ${plan.config.namespace}`}`,
      architecture: Architecture.ARM_64,
      timeout: Duration.seconds(plan.timeoutSeconds),
      memorySize: plan.memoryMb,
      environment: { ...lambdaEnvironment(plan).variables },
      role: this.role,
      logGroup: this.logGroup,
      recursiveLoop: RecursiveLoop.ALLOW,
      ...defined({ reservedConcurrentExecutions: mostAtOnce }),
    };
    // No name of its own: a change from zip to image replaces a function, and a name could not be given twice.
    this.function =
      code.kind === 'image'
        ? new DockerImageFunction(this, 'Function', { ...common, code: code.code })
        : new LambdaFunction(this, 'Function', {
            ...common,
            code: code.code,
            handler: 'index.handler',
            runtime: Runtime.NODEJS_24_X,
          });
  }

  get grantPrincipal(): IPrincipal {
    return this.role;
  }

  /** Invoked with what comes in this queue, which it may take from it and nothing more. */
  consume(queue: IQueue): void {
    const { batchSize, batchWindowSeconds, maxReplicas } = this.plan;
    this.function.addEventSource(
      new SqsEventSource(queue, {
        batchSize,
        ...(batchWindowSeconds === 0 ? {} : { maxBatchingWindow: Duration.seconds(batchWindowSeconds) }),
        maxConcurrency: maxReplicas,
        reportBatchItemFailures: true,
      }),
    );
  }

  metricConcurrency(options: MetricOptions = {}) {
    return this.function.metric('ConcurrentExecutions', { statistic: 'Maximum', ...options });
  }

  /** Of its function URL. */
  metricUrl(name: 'UrlRequestCount' | 'Url5xxCount', options: MetricOptions = {}) {
    return this.function.metric(name, { statistic: 'Sum', period: METRIC_PERIOD, ...options });
  }

  metricThrottles(options: MetricOptions = {}) {
    return this.function.metricThrottles({ statistic: 'Sum', ...options });
  }
}
