import { runWorker } from '../../assembly/hosts/worker.ts';

/** The process of a sidecar in the local mesh: `asya sidecar` without the command line. */
// Lets a handler simulate a crash of its host.
process.env['FUNCTION_PID'] = String(process.pid);

const [, , umask] = process.argv;
// Set it before anything can run a handler.
if (umask !== undefined) process.umask(umask);

const stop = new AbortController();
// A second signal must not interrupt the shutdown.
process.on('SIGTERM', () => stop.abort());
// Ctrl-C in a terminal signals every process. The mesh decides when a sidecar ends.
process.on('SIGINT', () => {});
process.exitCode = await runWorker({
  env: process.env,
  write: (line) => process.stdout.write(`${line}\n`),
  printError: (message) => process.stderr.write(`${message}\n`),
  stop: stop.signal,
});
process.exit();
