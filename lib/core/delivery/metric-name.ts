import type { MetricName } from './metrics.ts';

/** The metrics' prefix in Prometheus and their namespace in CloudWatch. */
export const METRICS_NAMESPACE = 'asya_actor';

/** `messages_sent_total` is `MessagesSentTotal` in CloudWatch. */
export function toCamelCase(name: MetricName): string {
  return name
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

/** The `service` dimension of metrics in CloudWatch. It separates the meshes of an account. */
export function metricsService(namespace: string | undefined): string {
  return namespace ?? 'asya';
}
