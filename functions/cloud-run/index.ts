import { runCloudRun } from '../../lib/assembly/hosts/cloud-run.ts';

/** An actor on Cloud Run: Pub/Sub pushes, the runtime is a child or a second container. */
const stop = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop.abort());

process.exitCode = await runCloudRun({
  env: process.env,
  write: (line) => process.stdout.write(`${line}\n`),
  printError: (message) => process.stderr.write(`${message}\n`),
  stop: stop.signal,
});
// Kept connections of clients would hold the process for a while.
process.exit();
