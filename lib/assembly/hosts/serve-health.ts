import { type HealthServerOptions, healthServer } from '../../adapters/health-http/health-server.ts';
import type { JsonLog } from '../../adapters/log/json-log.ts';
import type { PrometheusTelemetry } from '../../adapters/prometheus/prometheus-telemetry.ts';
import type { SidecarConfig } from '../../config/settings/host-config.ts';

/** What a host that lives long says of itself, unless its configuration has that off. Returns how to end it. */
export async function serveHealth(
  config: SidecarConfig,
  metrics: PrometheusTelemetry,
  log: JsonLog,
  looks: Pick<HealthServerOptions, 'liveness' | 'readiness'>,
): Promise<() => Promise<void>> {
  if (config.metrics === undefined) return async () => {};
  const { port, close } = await healthServer({
    ...config.metrics,
    ...looks,
    metrics: async () => ({ text: await metrics.text(), contentType: metrics.contentType }),
  });
  log.line('info', 'serving /healthz, /readyz and /metrics', { port });
  return close;
}
