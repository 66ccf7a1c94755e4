import { crewFromConfig } from '../../lib/assembly/from-config/crew-from-config.ts';
import { lambdaHandler } from '../../lib/assembly/hosts/lambda.ts';

/** x-dlq on Lambda. Its event sources are all dead-letter queues of the mesh, including the crew's. */
export const handler = lambdaHandler(process.env, crewFromConfig('x-dlq'));
