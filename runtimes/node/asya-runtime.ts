/**
 * Hosts one handler for the asya sidecar. Needs Node 24 or later and no packages.
 *
 *     node asya-runtime.ts ./score.ts.score        (or ./score.ts.Scorer.score, or ASYA_HANDLER)
 *
 * A handler takes the payload, and a context if it has a second parameter without a default. Its result is sent to the
 * next actor; null and undefined end the route; each `yield` is one item of a fan-out. It may be async.
 *
 * The payload is parsed with JSON.parse: whole numbers above 2^53 lose digits. The result is written with
 * JSON.stringify, which drops undefined properties and the contents of a Map, and turns a NaN inside a value into null.
 * If 64-bit numbers matter, send them as strings or use the Python runtime.
 */
import { tracebackOf } from './error-object.ts';
import { loadHandler } from './handler/load-handler.ts';
import { IS_DEBUG, log } from './log.ts';
import { serveChannel } from './server/channel-server.ts';
import { HandlerHost } from './server/handler-host.ts';
import { settingsFrom } from './settings.ts';
import { StartupError } from './startup-error.ts';

const SHUTDOWN_GRACE_MS = 5_000;

async function main(): Promise<void> {
  const name = process.argv[2] ?? process.env['ASYA_HANDLER'] ?? '';
  process.on('uncaughtException', (error) => exitOnUncaught('uncaught exception', error));
  process.on('unhandledRejection', (error) => exitOnUncaught('unhandled rejection', error));
  try {
    await start(name);
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    log(`cannot host "${name}": ${error.message}`);
    if (IS_DEBUG) process.stderr.write(`${error.stack}\n${tracebackOf(error.cause)}\n`);
    else if (error.userStack !== '') process.stderr.write(`${error.userStack}\n`);
    process.exit(1);
  }
}

async function start(name: string): Promise<void> {
  const settings = settingsFrom(process.env, process.argv.slice(2));
  // The descriptors belong to this process only.
  delete process.env['ASYA_RUNTIME_FD'];
  delete process.env['ASYA_RUNTIME_ANSWER_FD'];
  if (process.env['ASYA_PARENT_PIPE'] === '1') {
    const { watchParent } = await import('./watch-parent.ts');
    watchParent();
  }
  const host = new HandlerHost(await loadHandler(name), settings);
  let server: { close(): void } | undefined;
  // Before it is ready: the sidecar may stop it at once.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(server, host));
  server = await serve(host);
}

/** Starts to accept calls. `close` ends that. */
async function serve(host: HandlerHost): Promise<{ close(): void }> {
  const { channel, handler, url } = host.settings;
  if (channel !== undefined) return serveChannel(host, channel);
  // Imported only if needed, as a function on Lambda never does.
  const { listen } = await import('./server/listen.ts');
  const server = await listen(host);
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? ` (port ${address.port})` : '';
  log(`${handler} is ready at ${url}${port}`);
  return server;
}

/** Finishes the calls in flight, at most for the grace period, and exits with status 0. */
async function stop(server: { close(): void } | undefined, host: HandlerHost): Promise<never> {
  server?.close(); // also removes the socket file
  await host.close(SHUTDOWN_GRACE_MS);
  if (host.inFlight > 0)
    log(`exiting after ${SHUTDOWN_GRACE_MS / 1000} s with unfinished calls: ${host.inFlight}`);
  process.exit(0);
}

/** After an uncaught error the state of the process is unknown. It exits, and the sidecar starts a new one. */
function exitOnUncaught(kind: string, error: unknown): never {
  log(`${kind} in the handler's code; exiting with status 1: ${tracebackOf(error)}`);
  process.exit(1);
}

void main();
