import { runSidecar } from '../cli/sidecar.ts';

/** A sidecar of the local mesh as a process of its own: `asya sidecar` without the command line. */
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
process.exitCode = await runSidecar({
  env: process.env,
  write: (line) => process.stdout.write(`${line}\n`),
  complain: (words) => process.stderr.write(`${words}\n`),
  stop: stop.signal,
});
process.exit();
