import { timerOnLambda } from '../../lib/assembly/timer-on-lambda.ts';

/** The gateway's backstops on Lambda: its own queue is the event source. */
export const handler = timerOnLambda(process.env);
