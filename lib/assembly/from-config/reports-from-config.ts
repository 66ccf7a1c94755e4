import { reportFace } from '../../adapters/http/report-face.ts';
import { reportVerification } from '../../adapters/http/verify-reports.ts';
import type { JsonLog } from '../../adapters/log/json-log.ts';
import { systemClock } from '../../adapters/system/system.ts';
import type { GatewayConfig } from '../../config/settings/host-config.ts';
import type { Environment } from '../../config/settings/variables.ts';
import { backendFromConfig } from './gateway-from-config.ts';
import type { MakeTransport } from './transport-from-config.ts';

/** The app that only accepts reports. It needs neither flows nor API keys. */
export async function reportsFromConfig(
  config: GatewayConfig,
  env: Environment,
  log: JsonLog,
  makeTransport: MakeTransport,
): Promise<ReturnType<typeof reportFace>> {
  if (config.gatewaySecret === undefined)
    throw new Error('asya: ASYA_GATEWAY_SECRET is not set; it is the secret that signs reports');
  const verifyReports = reportVerification(config.gatewaySecret, systemClock.now);
  const { gateway } = await backendFromConfig(config, env, log, makeTransport, () => []);
  return reportFace({ gateway, verifyReports, telemetry: log });
}
