import { crewFromConfig } from '../../lib/assembly/from-config/crew-from-config.ts';
import { lambdaHandler } from '../../lib/assembly/hosts/lambda.ts';

/** x-sink on Lambda: every end is kept here, and what failed is forwarded to x-sump. */
export const handler = lambdaHandler(process.env, crewFromConfig('x-sink'));
