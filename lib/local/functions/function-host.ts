import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Context } from 'aws-lambda';
import { defined } from '../../core/text/defined.ts';
import type { HostMessage, InvokeMessage, MeshMessage } from './function-messages.ts';

/** The process of one instance of a function, like Lambda's runtime. `function-process.ts` starts it. */

type Handler = (event: unknown, context: Context) => unknown;

/**
 * Kills this process when the mesh ends, even if the mesh was killed: the mesh holds the other end of stdin. A worker
 * thread watches it, because the main thread may be busy.
 */
const WATCH = `
const stdin = new (require('node:net').Socket)({ fd: 0 });
stdin.on('error', () => {});
stdin.on('close', () => process.kill(process.pid, 'SIGKILL'));
stdin.resume();
`;

const [, , file = '', umask] = process.argv;
// Set it before anything can run a handler.
if (umask !== undefined) process.umask(umask);
const send = (message: HostMessage, then = () => {}) => process.send?.(message, then);

new Worker(WATCH, { eval: true }).unref();
process.on('disconnect', () => process.exit(1));
// Ctrl-C in a terminal signals every process. The mesh decides when a function ends.
process.on('SIGINT', () => {});
// Lets a handler simulate a crash of its function. The runtime's parent is a shell, not this process.
process.env['FUNCTION_PID'] = String(process.pid);

try {
  const handler = await loadHandler(file);
  process.on('message', (message: MeshMessage) => {
    if (message.kind === 'invoke') void invoke(handler, message);
  });
  send({ kind: 'ready' });
} catch (error) {
  send({ kind: 'refused', problem: problemOf(error) }, () => process.exit(1));
}

async function loadHandler(path: string): Promise<Handler> {
  const loaded = (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
  const { handler } = loaded;
  if (typeof handler === 'function') return handler as Handler;
  throw new Error(
    `the module does not export a function "handler"; its exports are: ${Object.keys(loaded).join(', ') || 'none'}`,
  );
}

async function invoke(handler: Handler, { requestId, event, deadlineMs }: InvokeMessage): Promise<void> {
  try {
    const json = JSON.stringify(await handler(event, contextOf(requestId, deadlineMs)));
    send({ kind: 'answered', requestId, ...defined({ json }) });
  } catch (error) {
    console.error(error);
    send({ kind: 'failed', requestId, problem: problemOf(error) });
  }
}

function contextOf(requestId: string, deadlineMs: number): Context {
  const { env } = process;
  const name = env['AWS_LAMBDA_FUNCTION_NAME'] ?? '';
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName: name,
    functionVersion: env['AWS_LAMBDA_FUNCTION_VERSION'] ?? '',
    invokedFunctionArn: `arn:aws:lambda:${env['AWS_REGION']}:000000000000:function:${name}`,
    memoryLimitInMB: env['AWS_LAMBDA_FUNCTION_MEMORY_SIZE'] ?? '',
    awsRequestId: requestId,
    logGroupName: env['AWS_LAMBDA_LOG_GROUP_NAME'] ?? '',
    logStreamName: env['AWS_LAMBDA_LOG_STREAM_NAME'] ?? '',
    getRemainingTimeInMillis: () => Math.max(0, deadlineMs - Date.now()),
    // `nodejs24.x` has no callbacks, but the type still requires them.
    done: () => {},
    fail: () => {},
    succeed: () => {},
  };
}

function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return `the thrown value is not an Error: ${JSON.stringify(error)}`;
  return error.name === 'Error' ? error.message : `${error.name}: ${error.message}`;
}
