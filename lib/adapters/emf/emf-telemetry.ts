import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { METRICS_NAMESPACE, toCamelCase } from '../../core/delivery/metric-name.ts';
import {
  METRICS,
  type Measurement,
  type Metric,
  type MetricSource,
  measurementsOfDelivery,
  measurementsOfReceive,
} from '../../core/delivery/metrics.ts';
import type { Telemetry } from '../../ports/telemetry.ts';

export interface EmfTelemetry extends Telemetry {
  /** Prints what was gathered since the last time, one line for each set of dimensions. */
  publish(): void;
}

const UNITS = {
  count: MetricUnit.Count,
  seconds: MetricUnit.Seconds,
  bytes: MetricUnit.Bytes,
  level: MetricUnit.Count,
} as const satisfies Readonly<Record<Metric['kind'], string>>;

/** For Lambda: gathered during an invocation, then printed in CloudWatch's embedded metric format. */
export function emfTelemetry(place: MetricSource): EmfTelemetry {
  let gathered: Measurement[] = [];
  return {
    received: (count, waitedMs) => gathered.push(...measurementsOfReceive(count, waitedMs, place)),
    began: () => {},
    ended: (report) => gathered.push(...measurementsOfDelivery(report, place)),
    warn: () => {},
    step: () => {},
    publish: () => {
      for (const group of groupsByLabels(gathered)) publishGroup(group);
      gathered = [];
    },
  };
}

function groupsByLabels(measurements: readonly Measurement[]): readonly (readonly Measurement[])[] {
  const groups = Map.groupBy(measurements, ({ labels }) => JSON.stringify(labels));
  return [...groups.values()];
}

function publishGroup(group: readonly Measurement[]): void {
  const metrics = new Metrics({ namespace: METRICS_NAMESPACE });
  metrics.addDimensions({ ...group[0]?.labels });
  for (const { name, value } of group) metrics.addMetric(toCamelCase(name), UNITS[METRICS[name].kind], value);
  metrics.publishStoredMetrics();
}
