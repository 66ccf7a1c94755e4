import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Construct } from 'constructs';

export interface MeshAlarmProps {
  /** As it stands in the mail: `asya-dev-hello-score-dead-letters`. */
  readonly name: string;
  /** What happened, and what to look at first. */
  readonly description: string;
  readonly metric: IMetric;
  /** Told once the metric is at or above it. */
  readonly threshold: number;
  /**
   * How many periods in a row it has to last.
   * @default 1
   */
  readonly periods?: number;
  /**
   * Who is told.
   * @default nobody; the alarm is seen on the console alone
   */
  readonly topic?: ITopic;
}

/** An alarm of the mesh. Silence is no trouble: where nothing is measured, nothing is done. */
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
    const tell = new SnsAction(topic);
    alarm.addAlarmAction(tell);
    alarm.addOkAction(tell);
  }
  return alarm;
}
