import { crewHandler } from '../../lib/assembly/hosts/lambda-crew.ts';

/** x-dlq on Lambda. Its event sources are all dead-letter queues of the mesh, including the crew's. */
export const handler = crewHandler(process.env, 'x-dlq');
