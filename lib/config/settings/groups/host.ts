import { listenAddress } from '../addresses.ts';
import { duration, oneOf } from '../kinds.ts';
import { setting } from '../setting.ts';

export const logLevel = oneOf('debug', 'info', 'warn', 'error');

/** In the configuration: at the top level. */
export const LOGGING = {
  logLevel: setting('ASYA_LOG_LEVEL', logLevel, { about: 'Minimum level of log lines.', default: 'info' }),
};

/** In the configuration: at the top level. Read by long-running hosts. */
export const PROCESS = {
  metrics: setting('ASYA_METRICS_ADDR', listenAddress, {
    about: 'Address of the server for metrics and health checks.',
    default: ':9090',
    emptyMeans: 'off',
  }),
  gracePeriodMs: setting('ASYA_GRACE_PERIOD', duration, {
    about: 'How long deliveries in progress may take after the sidecar receives a signal to stop.',
    default: '30s',
  }),
};
