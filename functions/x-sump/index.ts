import { crewFromConfig } from '../../lib/assembly/from-config/crew-from-config.ts';
import { lambdaHandler } from '../../lib/assembly/hosts/lambda.ts';

/** x-sump on Lambda. It adds failed envelopes to the failure index, for inspection and replay. */
export const handler = lambdaHandler(process.env, crewFromConfig('x-sump'));
