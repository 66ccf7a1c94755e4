import type { RemovalPolicy } from 'aws-cdk-lib';
import { MathExpression, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { CANCELLATIONS_PREFIX, TASK_PREFIX } from '../../lib/config/plan/failure-table.ts';
import type { PlanSettings } from '../../lib/config/plan/function-plan.ts';
import { GATEWAY, reportsPlan } from '../../lib/config/plan/gateway-plan.ts';
import { queueName } from '../../lib/config/settings/queue-name.ts';
import { defined } from '../../lib/core/text/defined.ts';
import type { MeshCode } from '../code/mesh-code.ts';
import type { Crew } from './crew.ts';
import { grantKey } from './grant-key.ts';
import { meshAlarm } from './mesh-alarm.ts';
import { MeshFunction } from './mesh-function.ts';
import { METRIC_PERIOD } from './mesh-metrics.ts';

/** Props that the gateway's functions share. */
export interface GatewayFunctionsProps {
  /** Settings of the mesh's plan. */
  readonly settings: PlanSettings;
  /** Provides the code of the gateway's functions. */
  readonly code: MeshCode;
  /** The crew of the mesh. Its table holds the tasks, its archive the results. */
  readonly crew: Crew;
  /**
   * KMS key for the gateway's queue and secrets. Must be the key of the crew's table and archive.
   * @default each service encrypts with its own key
   */
  readonly encryptionKey?: IKey;
  /**
   * What happens to the gateway's logs and secrets when it is deleted.
   * @default RemovalPolicy.RETAIN
   */
  readonly removalPolicy?: RemovalPolicy;
  /**
   * How long the logs of the gateway's functions are kept.
   * @default RetentionDays.ONE_MONTH
   */
  readonly logRetention?: RetentionDays;
  /**
   * SNS topic that is notified when an alarm starts and when it is over.
   * @default no notifications; the alarms are visible in the console only
   */
  readonly alarmTopic?: ITopic;
}

/** What the function does with the items of the table, by their key's prefix. */
const ALLOWED = [
  [TASK_PREFIX, ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem']],
  [CANCELLATIONS_PREFIX, ['dynamodb:GetItem']],
] as const;

export interface GatewayReportsProps extends GatewayFunctionsProps {
  /** Secret that reports are signed with, shared with every function that reports. */
  readonly secret: string;
}

/**
 * The function that receives reports of the sidecars and the crew. It is separate from the gateway's function, where each
 * stream of a caller occupies an invocation.
 */
export class GatewayReports extends Construct {
  readonly url: string;
  readonly function: MeshFunction;

  constructor(scope: Construct, id: string, props: GatewayReportsProps) {
    super(scope, id);
    const { settings, secret, code, crew, encryptionKey, alarmTopic, logRetention, removalPolicy } = props;
    const plan = reportsPlan(settings, secret);
    this.function = new MeshFunction(this, 'Function', {
      plan,
      code: code.crew(scope, plan.folder),
      ...defined({ logRetention, removalPolicy }),
    });
    for (const [prefix, actions] of ALLOWED)
      this.function.role.addToPolicy(
        new PolicyStatement({
          actions: [...actions],
          resources: [crew.failures.tableArn],
          conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [`${prefix}*`] } },
        }),
      );
    grantKey(this.function, encryptionKey);
    // The function checks the signature of each report, so the URL needs no IAM authentication.
    this.url = this.function.function.addFunctionUrl({ authType: FunctionUrlAuthType.NONE }).url;
    meshAlarm(this, 'LostAlarm', {
      name: `${queueName(GATEWAY, settings.namespace)}-reports-lost`,
      description:
        'Reports to the gateway have been throttled or have failed for 15 minutes. Tasks may not show their progress.',
      metric: this.metricLost(),
      threshold: 1,
      periods: 3,
      ...defined({ topic: alarmTopic }),
    });
  }

  /** Number of requests with reports that reached the function URL. */
  metricRequests(): Metric {
    return this.function.metricUrl('UrlRequestCount', { label: 'requests' });
  }

  /** Number of requests that Lambda throttled or that were answered with a 5xx status. */
  metricLost(): MathExpression {
    return new MathExpression({
      expression: 'FILL(throttled, 0) + FILL(failed, 0)',
      usingMetrics: {
        throttled: this.function.metricThrottles({ period: METRIC_PERIOD }),
        failed: this.function.metricUrl('Url5xxCount'),
      },
      period: METRIC_PERIOD,
      label: 'lost',
    });
  }
}
