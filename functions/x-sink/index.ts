import { crewFromConfig } from '../../lib/assembly/from-config/crew-from-config.ts';
import { lambdaHandler } from '../../lib/assembly/hosts/lambda.ts';

/** x-sink on Lambda. It archives every envelope that ends, and forwards failed ones to x-sump. */
export const handler = lambdaHandler(process.env, crewFromConfig('x-sink'));
