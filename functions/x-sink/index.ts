import { crewFromConfig } from '../../lib/assembly/crew-from-config.ts';
import { handlerOnLambda } from '../../lib/assembly/on-lambda.ts';

/** x-sink on Lambda: every end is kept here, and what failed is forwarded to x-sump. */
export const handler = handlerOnLambda(process.env, crewFromConfig('x-sink'));
