import { crewFromConfig } from '../../lib/assembly/from-config/crew-from-config.ts';
import { lambdaHandler } from '../../lib/assembly/hosts/lambda.ts';

/** x-dlq on Lambda: every dead-letter queue of the mesh is an event source, the crew's own included. */
export const handler = lambdaHandler(process.env, crewFromConfig('x-dlq'));
