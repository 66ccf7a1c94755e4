import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import {
  initialMeasurements,
  METRICS,
  type Measurement,
  type Metric,
  type MetricName,
  type MetricSource,
  measurementsOfDelivery,
  measurementsOfReceive,
} from '../../core/delivery/metrics.ts';
import type { Telemetry } from '../../ports/telemetry.ts';

const PREFIX = 'asya_actor_';
const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900];
const BYTES = [256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576];

export interface PrometheusTelemetry extends Telemetry {
  /** The text that Prometheus scrapes. */
  text(): Promise<string>;
  readonly contentType: string;
}

type Instrument = (labels: Readonly<Record<string, string>>, value: number) => void;

/** For long-running hosts: keeps the metrics in memory for Prometheus to scrape. */
export function prometheusTelemetry(source: MetricSource): PrometheusTelemetry {
  const registry = new Registry();
  const instruments = new Map(
    Object.entries(METRICS).map(([name, metric]) => [name, instrument(name, metric, registry)] as const),
  );
  const measure = (name: MetricName, labels: Measurement['labels'], value: number) =>
    instruments.get(name)?.(labels, value);
  const measureAll = (measurements: readonly Measurement[]) => {
    for (const { name, labels, value } of measurements) measure(name, labels, value);
  };
  const { queue } = source;
  measureAll(initialMeasurements(source));
  return {
    received: (count, waitedMs) => measureAll(measurementsOfReceive(count, waitedMs, source)),
    began: () => measure('active_messages', { queue }, 1),
    ended: (report) => {
      measure('active_messages', { queue }, -1);
      measureAll(measurementsOfDelivery(report, source));
    },
    warn: () => {},
    step: () => {},
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

function instrument(name: string, { kind, help, labels }: Metric, registry: Registry): Instrument {
  const options = { name: PREFIX + name, help, labelNames: labels, registers: [registry] };
  switch (kind) {
    case 'count': {
      const counter = new Counter(options);
      return (values, value) => counter.inc(values, value);
    }
    case 'level': {
      const gauge = new Gauge(options);
      return (values, value) => gauge.inc(values, value);
    }
    case 'seconds':
    case 'bytes': {
      const histogram = new Histogram({ ...options, buckets: kind === 'seconds' ? SECONDS : BYTES });
      return (values, value) => histogram.observe(values, value);
    }
  }
}
