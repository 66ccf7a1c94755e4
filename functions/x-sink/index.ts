import { crewHandler } from '../../lib/assembly/hosts/lambda-crew.ts';

/** x-sink on Lambda. It archives every envelope that ends, and forwards failed ones to x-sump. */
export const handler = crewHandler(process.env, 'x-sink');
