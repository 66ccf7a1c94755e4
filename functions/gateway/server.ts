import { gatewayConfigFrom, gatewayFromConfig } from '../../lib/assembly/from-config/gateway-from-config.ts';
import { transportFromConfig } from '../../lib/assembly/from-config/transport-from-config.ts';
import { serveGateway } from '../../lib/assembly/hosts/serve-gateway.ts';

/** The gateway as a server: in a container, on Cloud Run. */
const { config, log } = gatewayConfigFrom(process.env);
const gateway = await gatewayFromConfig(config, process.env, log, transportFromConfig);
const listening = await serveGateway(gateway.face, config.gateway.port, '0.0.0.0');
log.line('info', 'gateway listening', { port: listening.port });

const stopping = new AbortController();
// If a function consumes the queue as well, the first one ends the task; for the other, this is a no-op.
const timers = gateway.consumeTimers(stopping.signal);

async function stop(): Promise<void> {
  stopping.abort();
  await listening.close();
  await timers;
  await gateway.close();
}

process.once('SIGTERM', stop);
process.once('SIGINT', stop);
