import { crewFromConfig } from '../../lib/assembly/from-config/crew-from-config.ts';
import { handlerOnLambda } from '../../lib/assembly/hosts/lambda.ts';

/** x-sink on Lambda: every end is kept here, and what failed is forwarded to x-sump. */
export const handler = handlerOnLambda(process.env, crewFromConfig('x-sink'));
