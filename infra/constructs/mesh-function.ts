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
  /** Timeout, memory, batch size and environment, from `planMesh`. */
  readonly plan: FunctionPlan;
  /** The function's code: a zip file or a container image. */
  readonly code: FunctionCode;
  /**
   * How long the function's logs are kept.
   * @default RetentionDays.ONE_MONTH
   */
  readonly logRetention?: RetentionDays;
  /**
   * What happens to the logs when the function is deleted.
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;
  /**
   * Reserved concurrency, which is also the limit of concurrent invocations. Do not set it for a function with an SQS
   * event source: throttled polls count as receives.
   * @default no reservation; the function shares the account's concurrency
   */
  readonly reservedConcurrentExecutions?: number;
}

/**
 * A function of the mesh. Its role may only write its logs until other permissions are granted. Lambda's recursive loop
 * detection is off, because it would stop the 17th retry.
 */
export class MeshFunction extends Construct implements IGrantable {
  readonly function: LambdaFunction;
  readonly role: Role;
  readonly logGroup: LogGroup;
  readonly plan: FunctionPlan;

  constructor(scope: Construct, id: string, props: MeshFunctionProps) {
    super(scope, id);
    const { plan, code, logRetention = RetentionDays.ONE_MONTH, reservedConcurrentExecutions } = props;
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
      description: `asya: ${plan.folder === 'sidecar' ? plan.actor : plan.folder}${plan.config.namespace === undefined ? '' : ` of ${plan.config.namespace}`}`,
      architecture: Architecture.ARM_64,
      timeout: Duration.seconds(plan.timeoutSeconds),
      memorySize: plan.memoryMb,
      environment: { ...lambdaEnvironment(plan).variables },
      role: this.role,
      logGroup: this.logGroup,
      recursiveLoop: RecursiveLoop.ALLOW,
      ...defined({ reservedConcurrentExecutions }),
    };
    // No fixed name: a change from zip to image replaces the function, and two functions cannot have the same name.
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

  /** Adds the queue as an event source, with the permissions to consume it. */
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

  /** Concurrent executions. */
  metricConcurrency(options: MetricOptions = {}) {
    return this.function.metric('ConcurrentExecutions', { statistic: 'Maximum', ...options });
  }

  /** A metric of the function URL. */
  metricUrl(name: 'UrlRequestCount' | 'Url5xxCount', options: MetricOptions = {}) {
    return this.function.metric(name, { statistic: 'Sum', period: METRIC_PERIOD, ...options });
  }

  /** Invocations that Lambda throttled because of a concurrency limit. */
  metricThrottles(options: MetricOptions = {}) {
    return this.function.metricThrottles({ statistic: 'Sum', ...options });
  }
}
