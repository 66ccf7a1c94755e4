import { runWorker } from '../../assembly/hosts/worker.ts';

/** A sidecar of the local mesh as a process of its own: `asya sidecar` without the command line. */
// On this machine alone a handler can play the crash of its host.
process.env['FUNCTION_PID'] = String(process.pid);

const [, , umask] = process.argv;
// Before anything is started that could run a handler.
if (umask !== undefined) process.umask(umask);

const stop = new AbortController();
// However often it is told: a second time must not cut off what the first one lets it finish.
process.on('SIGTERM', () => stop.abort());
// Ctrl-C in a terminal reaches every process there: when a sidecar ends is up to the mesh.
process.on('SIGINT', () => {});
process.exitCode = await runWorker({
  env: process.env,
  write: (line) => process.stdout.write(`${line}\n`),
  printError: (message) => process.stderr.write(`${message}\n`),
  stop: stop.signal,
});
process.exit();
