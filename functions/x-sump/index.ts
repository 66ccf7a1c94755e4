import { crewFromConfig } from '../../lib/assembly/crew-from-config.ts';
import { handlerOnLambda } from '../../lib/assembly/on-lambda.ts';

/** x-sump on Lambda: what failed is entered into the failure index, to be looked at and replayed. */
export const handler = handlerOnLambda(process.env, crewFromConfig('x-sump'));
