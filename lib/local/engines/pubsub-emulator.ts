import { type AddressInfo, createServer } from 'node:net';
import { startChild } from '../../adapters/runtime-process/child.ts';
import type { FoundEmulator } from './find-pubsub-emulator.ts';

/** Google's Pub/Sub emulator as a process of its own, on this machine's loopback alone. It keeps nothing. */
export interface PubsubEmulator {
  /** `host:port`, as `ASYA_PUBSUB_ENDPOINT` takes it. */
  readonly endpoint: string;
  readonly pid: number;
  /** Resolves when it is gone, with how. */
  readonly exited: Promise<string>;
  close(): Promise<void>;
}

/** A JVM on a busy machine takes its time. */
const READY_WITHIN_MS = 60_000;
const STOPS_WITHIN_MS = 3_000;
const ATTEMPTS = 3;
/** What it says when it listens, whichever port it was given. */
const READY = /Server started, listening on/;
const HOST = '127.0.0.1';
/** Its memory would otherwise be a quarter of the machine's, and its collector as wide as the machine. */
const JVM = '-Xmx1g -XX:+UseSerialGC';

/** It ends with whoever started it, however that ends. Rejects where it does not come up. */
export async function startPubsubEmulator(
  found: Exclude<FoundEmulator, { absence: string }>,
): Promise<PubsubEmulator> {
  for (let attempt = 1; ; attempt++) {
    const run = await runOn(await freePort(), found);
    if ('endpoint' in run) return run;
    // Somebody may have taken the port in between: it cannot choose one itself and say which.
    if (attempt === ATTEMPTS || !/bind/i.test(run.problem)) throw new Error(run.problem);
  }
}

async function runOn(
  port: number,
  { java, jar }: Exclude<FoundEmulator, { absence: string }>,
): Promise<PubsubEmulator | { readonly problem: string }> {
  const words: string[] = [];
  let onReady = () => {};
  const ready = new Promise<'ready'>((resolve) => {
    onReady = () => resolve('ready');
  });
  const child = startChild({
    command: `exec "$JAVA" ${JVM} -jar "$JAR" --host=${HOST} --port=${port}`,
    env: { PATH: process.env['PATH'] ?? '', JAVA: java, JAR: jar },
    onLine: (_, line) => {
      if (words.length < 50) words.push(line);
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
  return { problem: `Google's Pub/Sub emulator ${first}:\n${words.join('\n')}` };
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
