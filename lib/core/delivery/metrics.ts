import { FAILED_REASONS, type Fact, RESULTS, RUNTIME_ERROR_TYPES } from './plan.ts';

/** All metrics, for Prometheus and CloudWatch. Their namespace is `asya_actor`. `docs/metrics.md` lists them. */
export const METRICS = {
  messages_received_total: {
    kind: 'count',
    help: 'Messages received from the broker',
    labels: ['queue', 'transport'],
  },
  messages_total: { kind: 'count', help: 'Deliveries by result', labels: ['queue', 'result'] },
  messages_sent_total: {
    kind: 'count',
    help: 'Envelopes sent, by destination',
    labels: ['destination_queue', 'message_type'],
  },
  messages_failed_total: {
    kind: 'count',
    help: 'Deliveries that failed, by reason',
    labels: ['queue', 'reason'],
  },
  failures_recorded_total: {
    kind: 'count',
    help: 'Failures added to the index by x-sump and x-dlq',
    labels: ['actor', 'reason'],
  },
  runtime_errors_total: {
    kind: 'count',
    help: 'Calls to the runtime that failed',
    labels: ['queue', 'error_type'],
  },
  processing_duration_seconds: {
    kind: 'seconds',
    help: 'Time from the arrival of a delivery until the broker accepted its sends',
    labels: ['queue'],
  },
  runtime_execution_duration_seconds: {
    kind: 'seconds',
    help: 'Time spent in the runtime',
    labels: ['queue'],
  },
  queue_receive_duration_seconds: {
    kind: 'seconds',
    help: 'Time spent waiting for deliveries',
    labels: ['queue', 'transport'],
  },
  queue_send_duration_seconds: {
    kind: 'seconds',
    help: 'Time until the broker accepted the sends',
    labels: ['queue', 'transport'],
  },
  message_size_bytes: { kind: 'bytes', help: 'Size of message bodies', labels: ['direction'] },
  active_messages: { kind: 'level', help: 'Deliveries in progress', labels: ['queue'] },
} as const satisfies Readonly<Record<string, Metric>>;

export interface Metric {
  readonly kind: 'count' | 'seconds' | 'bytes' | 'level';
  readonly help: string;
  readonly labels: readonly string[];
}

export type MetricName = keyof typeof METRICS;

export interface Measurement {
  readonly name: MetricName;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A processed delivery: its facts, sizes and durations. */
export interface ProcessedDelivery {
  readonly facts: readonly Fact[];
  readonly receivedBytes: number;
  readonly sentBytes: readonly number[];
  readonly processingMs: number;
  readonly runtimeMs?: number;
  readonly sendMs: number;
}

/** Where measurements come from: their `queue` and `transport` labels. */
export interface MetricSource {
  readonly queue: string;
  readonly transport: string;
  /** The name of an actor's queue. */
  readonly queueOf: (actor: string) => string;
}

/** Every counter whose label values are known in advance, at 0: otherwise a monitor would miss its first event. */
export function initialMeasurements({ queue }: MetricSource): Measurement[] {
  return [
    ...RESULTS.map((result) => ({ name: 'messages_total', labels: { queue, result }, value: 0 }) as const),
    ...FAILED_REASONS.map(
      (reason) => ({ name: 'messages_failed_total', labels: { queue, reason }, value: 0 }) as const,
    ),
    ...RUNTIME_ERROR_TYPES.map(
      (error_type) => ({ name: 'runtime_errors_total', labels: { queue, error_type }, value: 0 }) as const,
    ),
  ];
}

export function measurementsOfReceive(
  count: number,
  waitedMs: number,
  { queue, transport }: MetricSource,
): Measurement[] {
  return [
    { name: 'messages_received_total', labels: { queue, transport }, value: count },
    { name: 'queue_receive_duration_seconds', labels: { queue, transport }, value: waitedMs / 1000 },
  ];
}

export function measurementsOfDelivery(worked: ProcessedDelivery, source: MetricSource): Measurement[] {
  const { queue, transport } = source;
  const { facts, receivedBytes, sentBytes, processingMs, runtimeMs, sendMs } = worked;
  return [
    ...facts.flatMap((fact) => measurementsOfFact(fact, source)),
    { name: 'processing_duration_seconds', labels: { queue }, value: processingMs / 1000 },
    ...(runtimeMs === undefined
      ? []
      : [
          { name: 'runtime_execution_duration_seconds', labels: { queue }, value: runtimeMs / 1000 } as const,
        ]),
    ...(sentBytes.length === 0
      ? []
      : [
          {
            name: 'queue_send_duration_seconds',
            labels: { queue, transport },
            value: sendMs / 1000,
          } as const,
        ]),
    { name: 'message_size_bytes', labels: { direction: 'received' }, value: receivedBytes },
    ...sentBytes.map(
      (value) => ({ name: 'message_size_bytes', labels: { direction: 'sent' }, value }) as const,
    ),
  ];
}

function measurementsOfFact(fact: Fact, { queue, queueOf }: MetricSource): Measurement[] {
  switch (fact.fact) {
    case 'result':
      return [{ name: 'messages_total', labels: { queue, result: fact.result }, value: 1 }];
    case 'failed':
      return [{ name: 'messages_failed_total', labels: { queue, reason: fact.reason }, value: 1 }];
    case 'runtime-error':
      return [{ name: 'runtime_errors_total', labels: { queue, error_type: fact.errorType }, value: 1 }];
    case 'sent':
      return [
        {
          name: 'messages_sent_total',
          labels: {
            destination_queue: fact.type === 'escalation' ? fact.to : queueOf(fact.to),
            message_type: fact.type,
          },
          value: 1,
        },
      ];
    case 'failure':
      return [
        {
          name: 'failures_recorded_total',
          labels: { actor: fact.actor, reason: fact.reason },
          value: 1,
        },
      ];
    case 'policy':
      return [];
  }
}
