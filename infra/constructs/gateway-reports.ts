import type { RemovalPolicy } from 'aws-cdk-lib';
import { MathExpression, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { TASK_PREFIX } from '../../lib/config/plan/failure-table.ts';
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

/** What the gateway's functions have in common. */
export interface GatewayFunctionsProps {
  readonly settings: PlanSettings;
  readonly code: MeshCode;
  /** Whose table holds the tasks, whose archive the results. */
  readonly crew: Crew;
  /**
   * The key for its queue and secrets, and of the crew's table.
   * @default the services encrypt with keys of their own
   */
  readonly encryptionKey?: IKey;
  /**
   * What becomes of its logs and secrets when it is removed.
   * @default they are kept
   */
  readonly removalPolicy?: RemovalPolicy;
  /**
   * How long logs are kept.
   * @default one month
   */
  readonly logRetention?: RetentionDays;
  /**
   * Whom its alarms tell.
   * @default nobody; they are seen on the console alone
   */
  readonly alarmTopic?: ITopic;
}

export interface GatewayReportsProps extends GatewayFunctionsProps {
  /** What reports are signed with. */
  readonly secret: string;
}

/** Where sidecars and crew report: not where callers hold an invocation for each of their streams. */
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
    this.function.role.addToPolicy(
      new PolicyStatement({
        actions: ['dynamodb:GetItem', 'dynamodb:PutItem'],
        resources: [crew.failures.tableArn],
        conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [`${TASK_PREFIX}*`] } },
      }),
    );
    grantKey(this.function, encryptionKey);
    // Who reports is checked by the signature, not by AWS identities.
    this.url = this.function.function.addFunctionUrl({ authType: FunctionUrlAuthType.NONE }).url;
    meshAlarm(this, 'LostAlarm', {
      name: `${queueName(GATEWAY, settings.namespace)}-reports-lost`,
      description: 'Reports to the gateway are refused or fail: tasks do not show how far they are.',
      metric: this.metricLost(),
      threshold: 1,
      periods: 3,
      ...defined({ topic: alarmTopic }),
    });
  }

  /** Requests with reports that came through. */
  metricRequests(): Metric {
    return this.function.metricUrl('UrlRequestCount', { label: 'requests' });
  }

  /** Requests that Lambda refused or that were answered with an error of ours. */
  metricLost(): MathExpression {
    return new MathExpression({
      expression: 'FILL(refused, 0) + FILL(failed, 0)',
      usingMetrics: {
        refused: this.function.metricThrottles({ period: METRIC_PERIOD }),
        failed: this.function.metricUrl('Url5xxCount'),
      },
      period: METRIC_PERIOD,
      label: 'lost',
    });
  }
}
