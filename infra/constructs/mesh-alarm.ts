import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';

export interface MeshAlarmProps {
  /** Alarm name, as shown in notifications: `asya-dev-hello-score-dead-letters`. */
  readonly name: string;
  /** What happened, and what to check first. A link to docs/operate.md is appended. */
  readonly description: string;
  readonly metric: IMetric;
  /** The alarm starts when the metric is greater than or equal to this value. */
  readonly threshold: number;
  /**
   * Number of consecutive periods for which the threshold must be reached.
   * @default 1
   */
  readonly periods?: number;
  /**
   * SNS topic that is notified when the alarm starts and when it is over.
   * @default no notifications; the alarm is visible in the console only
   */
  readonly topic?: ITopic;
}

/** An alarm of the mesh. Missing data does not trigger it, because an idle mesh reports no data. */
export function meshAlarm(scope: Construct, id: string, props: MeshAlarmProps): Alarm {
  const { name, description, metric, threshold, periods = 1, topic } = props;
  const alarm = new Alarm(scope, id, {
    alarmName: name,
    alarmDescription: `${description} See docs/operate.md.`,
    metric,
    threshold,
    evaluationPeriods: periods,
    datapointsToAlarm: periods,
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  });
  if (topic !== undefined) {
    const notify = new SnsAction(topic);
    alarm.addAlarmAction(notify);
    alarm.addOkAction(notify);
  }
  return alarm;
}
