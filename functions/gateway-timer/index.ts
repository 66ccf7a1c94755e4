import { lambdaTimerHandler } from '../../lib/assembly/hosts/lambda-timer.ts';

/** The gateway's backstops on Lambda: its own queue is the event source. */
export const handler = lambdaTimerHandler(process.env);
