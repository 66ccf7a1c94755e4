import { lambdaTimerHandler } from '../../lib/assembly/hosts/lambda-timer.ts';

/** Handles the gateway's task timeouts on Lambda. Its event source is the gateway's own queue. */
export const handler = lambdaTimerHandler(process.env);
