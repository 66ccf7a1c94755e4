import { type Alarm, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { defined } from '../../lib/core/text/defined.ts';
import { meshAlarm } from './mesh-alarm.ts';
import { METRIC_PERIOD } from './mesh-metrics.ts';

/**
 * Something was dead-lettered, or lies there. x-dlq empties the queue within seconds, and a depth that is looked at
 * once a minute would be 0 again: what was taken out of it counts too.
 */
export function deadLetterAlarm(
  scope: Construct,
  queueName: string,
  deadLetters: IQueue,
  topic: ITopic | undefined,
): Alarm {
  const period = METRIC_PERIOD;
  return meshAlarm(scope, 'DeadLettersAlarm', {
    name: `${queueName}-dead-letters`,
    description:
      'Deliveries failed again and again without an answer: a crash loop, or sends that are refused. x-dlq keeps them.',
    metric: new MathExpression({
      expression: 'FILL(lying, 0) + FILL(taken, 0)',
      usingMetrics: {
        lying: deadLetters.metricApproximateNumberOfMessagesVisible({ period, statistic: 'Maximum' }),
        taken: deadLetters.metricNumberOfMessagesReceived({ period, statistic: 'Sum' }),
      },
      period,
      label: 'dead letters',
    }),
    threshold: 1,
    ...defined({ topic }),
  });
}
