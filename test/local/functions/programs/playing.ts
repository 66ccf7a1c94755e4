import type { Context } from 'aws-lambda';

/** Does what its event says, as functions do and as they should not. */
export interface Play {
  readonly act: 'tell' | 'wait' | 'throw' | 'exit' | 'kill' | 'hang' | 'spin' | 'answer' | 'circle';
  readonly value?: unknown;
  readonly ms?: number;
}

let invocations = 0;
console.log('loaded');
// No default action: it has to be killed.
if (process.env['DEAF'] === '1') process.on('SIGTERM', () => {});

export async function handler({ act, value, ms = 0 }: Play, context: Context): Promise<unknown> {
  invocations++;
  switch (act) {
    case 'tell': {
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
      console.error('these were my last words');
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
