import { Metrics } from '@aws-lambda-powertools/metrics';
import { METRICS_NAMESPACE, toCamelCase } from '../../core/delivery/metric-name.ts';
import type { PublishGroups } from './emf-telemetry.ts';
import { unitOf } from './metric-units.ts';

/** Prints metrics with Powertools, for the crew. */
export const publishWithPowertools: PublishGroups = (groups) => {
  for (const group of groups) {
    const metrics = new Metrics({ namespace: METRICS_NAMESPACE });
    metrics.addDimensions({ ...group[0]?.labels });
    for (const { name, value } of group) metrics.addMetric(toCamelCase(name), unitOf(name), value);
    metrics.publishStoredMetrics();
  }
};
