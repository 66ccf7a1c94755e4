import type { Context } from 'aws-lambda';

/** Behaves as its event requests, including ways in which a function can fail. */
export interface Command {
  readonly act: 'describe' | 'wait' | 'throw' | 'exit' | 'kill' | 'hang' | 'spin' | 'answer' | 'circle';
  readonly value?: unknown;
  readonly ms?: number;
}

let invocations = 0;
console.log('loaded');
// A listener replaces the default action, so that only SIGKILL ends the process.
if (process.env['IGNORE_SIGTERM'] === '1') process.on('SIGTERM', () => {});

export async function handler({ act, value, ms = 0 }: Command, context: Context): Promise<unknown> {
  invocations++;
  switch (act) {
    case 'describe': {
      const { functionName, memoryLimitInMB, awsRequestId } = context;
      const leftMs = context.getRemainingTimeInMillis();
      return {
        pid: process.pid,
        invocations,
        cwd: process.cwd(),
        env: process.env,
        context: { functionName, memoryLimitInMB, awsRequestId, leftMs },
      };
    }
    case 'wait':
      await new Promise((resolve) => setTimeout(resolve, ms));
      return process.pid;
    case 'throw':
      throw new TypeError(String(value));
    case 'exit':
      console.error('exiting on request');
      process.exit(3);
      break;
    case 'kill':
      process.kill(process.pid, 'SIGKILL');
      break;
    case 'hang':
      console.log('hanging');
      break;
    case 'spin':
      for (;;);
    case 'answer':
      return value;
    case 'circle': {
      const circle: { self?: unknown } = {};
      circle.self = circle;
      return circle;
    }
  }
  return new Promise(() => {});
}
