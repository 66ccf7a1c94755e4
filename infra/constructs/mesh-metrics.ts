import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { METRICS_NAMESPACE, toCamelCase } from '../../lib/core/delivery/metric-name.ts';
import { METRICS, type MetricName } from '../../lib/core/delivery/metrics.ts';
import type { FailedReason } from '../../lib/core/delivery/plan.ts';
import { defined } from '../../lib/core/text/defined.ts';

/** What the functions of a mesh print; `service` is the mesh, by its namespace. */
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

/** One line for each value that one label has, whichever there will be. For dashboards: alarms take no search. */
export function metricsBy(
  namespace: string,
  name: MetricName,
  labels: Readonly<Record<string, string>>,
  label = '',
): MathExpression {
  return new MathExpression({ expression: searchFor(namespace, name, labels), label, period: METRIC_PERIOD });
}

/** All values of the label together. */
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

/** Every reason that a delivery fails for: alarms have to name them. */
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
