import { RequestMalformedError } from '@a2a-js/sdk/errors';
import type { Flow } from '../../core/task/flow.ts';
import type { Fields } from '../../core/text/fields.ts';

/** The flow that the message's metadata names, or the only flow with an `a2a` entry. */
export function chooseFlow(flows: readonly Flow[], ...metadata: readonly (Fields | undefined)[]): Flow {
  const skills = flows.filter(({ a2a }) => a2a !== undefined);
  const named = metadata.flatMap((fields) => [fields?.['skill'], fields?.['flow']]).find(isGiven);
  const [first, ...others] = skills;
  if (named === undefined && first !== undefined && others.length === 0) return first;
  const chosen = skills.find(({ name }) => name === named);
  if (chosen !== undefined) return chosen;
  const problem = named === undefined ? 'missing "skill" in the metadata' : 'unknown skill';
  const names = skills.map(({ name }) => `"${name}"`).join(', ') || 'none';
  throw new RequestMalformedError(`${problem}; available: ${names}`);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
