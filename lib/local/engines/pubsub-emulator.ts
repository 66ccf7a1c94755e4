import { type AddressInfo, createServer } from 'node:net';
import { startChild } from '../../adapters/runtime-process/child.ts';
import type { FoundEmulator } from './find-pubsub-emulator.ts';

/** Google's Pub/Sub emulator as a child process, on loopback only. Its data is in memory. */
export interface PubsubEmulator {
  /** `host:port`, the format of `ASYA_PUBSUB_ENDPOINT`. */
  readonly endpoint: string;
  readonly pid: number;
  /** Resolves when the process has ended, with a description such as `exited with status 1`. */
  readonly exited: Promise<string>;
  close(): Promise<void>;
}

/** A JVM starts slowly on a busy machine. */
const READY_WITHIN_MS = 60_000;
const STOPS_WITHIN_MS = 3_000;
const ATTEMPTS = 3;
/** The line that it prints when it listens. */
const READY = /Server started, listening on/;
const HOST = '127.0.0.1';
/** The default heap is a quarter of the machine's memory, and the default collector uses all cores. */
const JVM = '-Xmx1g -XX:+UseSerialGC';

/** The emulator ends with this process, even after a SIGKILL. Rejects if it does not start. */
export async function startPubsubEmulator(
  found: Exclude<FoundEmulator, { absence: string }>,
): Promise<PubsubEmulator> {
  for (let attempt = 1; ; attempt++) {
    const run = await runOn(await freePort(), found);
    if ('endpoint' in run) return run;
    // Another process may have taken the port. The emulator cannot choose a port and report it.
    if (attempt === ATTEMPTS || !/bind/i.test(run.problem)) throw new Error(run.problem);
  }
}

async function runOn(
  port: number,
  { java, jar }: Exclude<FoundEmulator, { absence: string }>,
): Promise<PubsubEmulator | { readonly problem: string }> {
  const output: string[] = [];
  let onReady = () => {};
  const ready = new Promise<'ready'>((resolve) => {
    onReady = () => resolve('ready');
  });
  const child = startChild({
    command: `exec "$JAVA" ${JVM} -jar "$JAR" --host=${HOST} --port=${port}`,
    env: { PATH: process.env['PATH'] ?? '', JAVA: java, JAR: jar },
    onLine: (_, line) => {
      if (output.length < 50) output.push(line);
      if (READY.test(line)) onReady();
    },
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`was not ready within ${READY_WITHIN_MS} ms`), READY_WITHIN_MS);
  });
  const first = await Promise.race([ready, child.exited, late]);
  clearTimeout(timer);
  if (first === 'ready') {
    const { pid, exited } = child;
    return { endpoint: `${HOST}:${port}`, pid, exited, close: () => child.stop(STOPS_WITHIN_MS) };
  }
  child.kill();
  return { problem: `Google's Pub/Sub emulator ${first}:\n${output.join('\n')}` };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, HOST, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
