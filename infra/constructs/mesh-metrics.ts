import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { METRICS_NAMESPACE, toCamelCase } from '../../lib/core/delivery/metric-name.ts';
import { METRICS, type MetricName } from '../../lib/core/delivery/metrics.ts';
import type { FailedReason } from '../../lib/core/delivery/plan.ts';
import { defined } from '../../lib/core/text/defined.ts';

/** A metric that the functions of a mesh write. The dimension `service` is the namespace. */
export interface MeshMetric {
  readonly namespace: string;
  readonly name: MetricName;
  readonly labels: Readonly<Record<string, string>>;
  readonly statistic: string;
  readonly label?: string;
}

export const METRIC_PERIOD = Duration.minutes(5);

export function meshMetric({ namespace, name, labels, statistic, label }: MeshMetric): Metric {
  return new Metric({
    namespace: METRICS_NAMESPACE,
    metricName: toCamelCase(name),
    dimensionsMap: { service: namespace, ...labels },
    statistic,
    period: METRIC_PERIOD,
    ...defined({ label }),
  });
}

/** A search with one line for each combination of label values. Only for dashboards: alarms do not support searches. */
export function metricsBy(
  namespace: string,
  name: MetricName,
  labels: Readonly<Record<string, string>>,
  label = '',
): MathExpression {
  return new MathExpression({ expression: searchFor(namespace, name, labels), label, period: METRIC_PERIOD });
}

/** The sum over all label values. */
export function metricOverAll(
  namespace: string,
  name: MetricName,
  labels: Readonly<Record<string, string>>,
  label: string,
): MathExpression {
  const expression = `SUM(${searchFor(namespace, name, labels)})`;
  return new MathExpression({ expression, label, period: METRIC_PERIOD });
}

function searchFor(namespace: string, name: MetricName, labels: Readonly<Record<string, string>>): string {
  const dimensions = ['service', ...METRICS[name].labels].sort();
  const terms = Object.entries({ service: namespace, ...labels }).map(([key, value]) => `${key}="${value}"`);
  const schema = `{${[METRICS_NAMESPACE, ...dimensions].join(',')}}`;
  return `SEARCH('${schema} MetricName="${toCamelCase(name)}" ${terms.join(' ')}', 'Sum', ${METRIC_PERIOD.toSeconds()})`;
}

/** All reasons of failed deliveries. Alarms have to list them, because they do not support searches. */
export const FAILED_REASONS = Object.keys({
  retry_send_failed: true,
  policy_exhausted: true,
  runtime_error: true,
  sla_timeout: true,
  timeout: true,
  parse_error: true,
  validation_error: true,
  route_mismatch: true,
  transport_error: true,
} satisfies Record<FailedReason, true>) as readonly FailedReason[];
