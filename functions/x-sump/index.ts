import { crewFromConfig } from '../../lib/assembly/from-config/crew-from-config.ts';
import { lambdaHandler } from '../../lib/assembly/hosts/lambda.ts';

/** x-sump on Lambda: what failed is entered into the failure index, to be looked at and replayed. */
export const handler = lambdaHandler(process.env, crewFromConfig('x-sump'));
