import { type HealthServerOptions, healthServer } from '../../adapters/health-http/health-server.ts';
import type { JsonLog } from '../../adapters/log/json-log.ts';
import type { PrometheusTelemetry } from '../../adapters/prometheus/prometheus-telemetry.ts';
import type { SidecarConfig } from '../../config/settings/host-config.ts';

/** Serves a long-running host's health and metrics, unless the configuration disables them. Returns how to close it. */
export async function serveHealth(
  config: SidecarConfig,
  metrics: PrometheusTelemetry,
  log: JsonLog,
  checks: Pick<HealthServerOptions, 'liveness' | 'readiness'>,
): Promise<() => Promise<void>> {
  if (config.metrics === undefined) return async () => {};
  const { port, close } = await healthServer({
    ...config.metrics,
    ...checks,
    metrics: async () => ({ text: await metrics.text(), contentType: metrics.contentType }),
  });
  log.line('info', 'serving /healthz, /readyz and /metrics', { port });
  return close;
}
