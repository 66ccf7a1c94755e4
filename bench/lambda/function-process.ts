import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SQSBatchResponse } from 'aws-lambda';
import { eventFor } from './events.ts';
import { isRunning, processTree, proportionalMb } from './memory.ts';
import { type Invocation, startRuntimeApi } from './runtime-api.ts';

/** A function as Lambda would run it. */
export interface DeployedFunction {
  readonly name: string;
  /** The actor whose envelopes it receives. */
  readonly actor: string;
  readonly folder: string;
  readonly handler: string;
  /** Program and arguments of the runtime interface. */
  readonly runtime: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
}

export interface FunctionProcess {
  /** Milliseconds from the start of the process to the response of its first invocation, of one record. */
  readonly firstMs: number;
  /** Milliseconds from the event to the response. */
  invoke(records: number): Promise<number>;
  memoryMb(): number;
  stop(): Promise<void>;
}

const TIMEOUT_MS = 60_000;
const LAST_OUTPUT = 4_000;

/** Starts the function. Resolves when it has answered its first invocation, which waits for it from the start. */
export async function startFunction(deployed: DeployedFunction): Promise<FunctionProcess> {
  const api = await startRuntimeApi();
  const { name, actor, folder, handler, runtime, environment } = deployed;
  const [program, ...args] = runtime;
  let output = '';

  async function invoke(records: number): Promise<Invocation> {
    const invocation = await api.invoke(eventFor(actor, records), TIMEOUT_MS);
    const { batchItemFailures } = invocation.response as SQSBatchResponse;
    if (batchItemFailures.length === 0) return invocation;
    throw new Error(`${name} failed ${batchItemFailures.length} of ${records} records:\n${output}`);
  }

  const first = invoke(1);
  const startedAt = performance.now();
  const child = spawn(program, args, {
    cwd: folder,
    env: {
      ...environment,
      AWS_LAMBDA_RUNTIME_API: api.address,
      AWS_LAMBDA_FUNCTION_NAME: name,
      LAMBDA_TASK_ROOT: folder,
      _HANDLER: handler,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output = `${output}${chunk}`.slice(-LAST_OUTPUT);
    });
  const exited = once(child, 'exit');
  const failed = exited.then(([code, signal]) => {
    throw new Error(`${name} ended with ${signal ?? `code ${code}`}:\n${output}`);
  });
  failed.catch(() => {});
  const { respondedAt } = await Promise.race([first, failed]);
  return {
    firstMs: respondedAt - startedAt,
    invoke: async (records) => {
      const { deliveredAt, respondedAt } = await Promise.race([invoke(records), failed]);
      return respondedAt - deliveredAt;
    },
    memoryMb: () => proportionalMb(processTree(child.pid ?? 0)),
    stop: async () => {
      const tree = processTree(child.pid ?? 0);
      for (const pid of tree) kill(pid);
      await exited;
      // What has not ended yet would disturb the next measurement.
      while (tree.some(isRunning)) await sleep(1);
      await api.close();
    },
  };
}

/** Does nothing if the process has ended. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
