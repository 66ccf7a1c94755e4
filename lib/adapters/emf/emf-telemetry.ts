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
  /** Prints the metrics collected since the last call, one line per set of dimensions. */
  publish(): void;
}

const UNITS = {
  count: MetricUnit.Count,
  seconds: MetricUnit.Seconds,
  bytes: MetricUnit.Bytes,
  level: MetricUnit.Count,
} as const satisfies Readonly<Record<Metric['kind'], string>>;

/** For Lambda: collects metrics during an invocation and prints them in CloudWatch's embedded metric format. */
export function emfTelemetry(source: MetricSource): EmfTelemetry {
  let collected: Measurement[] = [];
  return {
    received: (count, waitedMs) => collected.push(...measurementsOfReceive(count, waitedMs, source)),
    began: () => {},
    ended: (report) => collected.push(...measurementsOfDelivery(report, source)),
    warn: () => {},
    step: () => {},
    publish: () => {
      for (const group of groupsByLabels(collected)) publishGroup(group);
      collected = [];
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
