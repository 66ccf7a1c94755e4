import { crewHandler } from '../../lib/assembly/hosts/lambda-crew.ts';

/** x-sump on Lambda. It adds failed envelopes to the failure index, for inspection and replay. */
export const handler = crewHandler(process.env, 'x-sump');
