import {
  type Measurement,
  type MetricSource,
  measurementsOfDelivery,
  measurementsOfReceive,
} from '../../core/delivery/metrics.ts';
import type { Telemetry } from '../../ports/telemetry.ts';

export interface EmfTelemetry extends Telemetry {
  /** Prints the metrics collected since the last call, one line per set of dimensions. */
  publish(): void;
}

/** Prints measurements that have the same labels. There is at least one, and at most `MAX_VALUES`. */
export type PublishGroups = (groups: readonly (readonly Measurement[])[]) => void;

/** CloudWatch accepts 100 values of a metric in one line. At 100, Powertools would print by itself, and then forget the labels. */
const MAX_VALUES = 99;

/** For Lambda: collects metrics during an invocation and prints them in CloudWatch's embedded metric format. */
export function emfTelemetry(source: MetricSource, publishGroups: PublishGroups): EmfTelemetry {
  let collected: Measurement[] = [];
  return {
    received: (count, waitedMs) => collected.push(...measurementsOfReceive(count, waitedMs, source)),
    began: () => {},
    ended: (report) => collected.push(...measurementsOfDelivery(report, source)),
    warn: () => {},
    step: () => {},
    publish: () => {
      const groups = groupsByLabels(collected);
      collected = [];
      if (groups.length > 0) publishGroups(groups);
    },
  };
}

function groupsByLabels(measurements: readonly Measurement[]): readonly (readonly Measurement[])[] {
  const groups = new Map<string, Measurement[]>();
  const full: Measurement[][] = [];
  for (const one of measurements) {
    const key = Object.entries(one.labels).join();
    const group = groups.get(key) ?? [];
    if (group.length === 0) groups.set(key, group);
    group.push(one);
    if (group.length < MAX_VALUES) continue;
    full.push(group);
    groups.delete(key);
  }
  return [...full, ...groups.values()];
}
