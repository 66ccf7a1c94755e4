import { runCloudRun } from '../../lib/assembly/hosts/cloud-run.ts';

/** An actor on Cloud Run. Pub/Sub pushes its deliveries; its runtime is a child process or a second container. */
const stop = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort());

process.exitCode = await runCloudRun({
  env: process.env,
  write: (line) => process.stdout.write(`${line}\n`),
  printError: (message) => process.stderr.write(`${message}\n`),
  stop: stop.signal,
});
// Idle keep-alive connections of the clients would delay the exit.
process.exit();
