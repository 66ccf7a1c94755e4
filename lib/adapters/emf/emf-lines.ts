import { METRICS_NAMESPACE, toCamelCase } from '../../core/delivery/metric-name.ts';
import type { Measurement } from '../../core/delivery/metrics.ts';
import type { PublishGroups } from './emf-telemetry.ts';
import { unitOf } from './metric-units.ts';

export interface EmfLinesOptions {
  /** The `service` dimension. */
  readonly service: string;
  readonly now: () => number;
  /** Writes one or more lines at once. */
  readonly write: (lines: string) => void;
}

/** Prints metrics in one write, in the shape that Powertools prints. For the sidecar, where every millisecond counts. */
export function emfLines({ service, now, write }: EmfLinesOptions): PublishGroups {
  return (groups) => {
    const timestamp = now();
    write(groups.map((group) => `${lineOf(group, service, timestamp)}\n`).join(''));
  };
}

/** A metric with one value has a number, one with several has a list. */
function lineOf(group: readonly Measurement[], service: string, timestamp: number): string {
  const labels = group[0]?.labels ?? {};
  const values: Record<string, number | number[]> = {};
  const metrics: { Name: string; Unit: string }[] = [];
  for (const { name, value } of group) {
    const key = toCamelCase(name);
    const known = values[key];
    if (known === undefined) {
      values[key] = value;
      metrics.push({ Name: key, Unit: unitOf(name) });
    } else if (typeof known === 'number') values[key] = [known, value];
    else known.push(value);
  }
  const dimensions = [['service', ...Object.keys(labels)]];
  return JSON.stringify({
    _aws: {
      Timestamp: timestamp,
      CloudWatchMetrics: [{ Namespace: METRICS_NAMESPACE, Dimensions: dimensions, Metrics: metrics }],
    },
    service,
    ...labels,
    ...values,
  });
}
