import { type Alarm, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { defined } from '../../lib/core/text/defined.ts';
import { meshAlarm } from './mesh-alarm.ts';
import { METRIC_PERIOD } from './mesh-metrics.ts';

/**
 * Alarm for messages in a dead-letter queue. x-dlq empties the queue within seconds, so its depth, which is measured once
 * a minute, is usually 0 again. Messages that were received from the queue therefore count too.
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
      'Messages were moved to the dead-letter queue after repeated deliveries without an acknowledgement: the function crashes, or its sends are refused. x-dlq stores them; `asya failures` lists them.',
    metric: new MathExpression({
      expression: 'FILL(visible, 0) + FILL(received, 0)',
      usingMetrics: {
        visible: deadLetters.metricApproximateNumberOfMessagesVisible({ period, statistic: 'Maximum' }),
        received: deadLetters.metricNumberOfMessagesReceived({ period, statistic: 'Sum' }),
      },
      period,
      label: 'dead letters',
    }),
    threshold: 1,
    ...defined({ topic }),
  });
}
