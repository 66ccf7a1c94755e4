import { jsonLog } from '../../lib/adapters/log/json-log.ts';
import { systemClock } from '../../lib/adapters/system/system.ts';
import { delayerConfigFrom } from '../../lib/config/settings/delayer-config.ts';
import { errorText } from '../../lib/core/text/error-text.ts';
import { mistakesText } from '../../lib/core/text/mistake.ts';
import { startDelayer } from './delayer.ts';

/** The delayer as an HTTP server, for Cloud Run. The push subscription of the delayer's topic calls it. */
const EXIT_FAILED = 1;
const EXIT_INVALID_CONFIG = 2;

const reading = delayerConfigFrom(process.env);
if ('mistakes' in reading) {
  const { mistakes } = reading;
  const count = mistakes.length === 1 ? '1 mistake' : `${mistakes.length} mistakes`;
  const indented = mistakesText(mistakes).replace(/^/gm, '  ');
  process.stderr.write(`pubsub-delayer: ${count} in the configuration\n${indented}\n`);
  process.exit(EXIT_INVALID_CONFIG);
}
const { config } = reading;
const write = (line: string) => process.stdout.write(`${line}\n`);
const log = jsonLog({ level: config.logLevel, actor: 'pubsub-delayer', now: systemClock.now, write });

try {
  const delayer = await startDelayer(config, log);
  log.line('info', 'listening', { port: delayer.port, engine: config.engine.kind });
  const stop = async () => {
    log.line('info', 'stopping');
    await delayer.stop();
    log.line('info', 'stopped');
    // Idle keep-alive connections of the HTTP client would delay the exit.
    process.exit();
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
} catch (error) {
  log.line('error', 'failed to start', { problem: errorText(error) });
  process.exitCode = EXIT_FAILED;
}
