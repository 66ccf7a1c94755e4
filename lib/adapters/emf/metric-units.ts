import { METRICS, type Metric, type MetricName } from '../../core/delivery/metrics.ts';

const UNITS = {
  count: 'Count',
  seconds: 'Seconds',
  bytes: 'Bytes',
  level: 'Count',
} as const satisfies Readonly<Record<Metric['kind'], string>>;

/** CloudWatch's unit of a metric. */
export function unitOf(name: MetricName): (typeof UNITS)[Metric['kind']] {
  return UNITS[METRICS[name].kind];
}
