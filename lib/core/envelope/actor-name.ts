/** Valid and reserved actor names. */

const ACTOR_NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;
const MAX_NAME = 63;

export const ACTOR_NAME_RULE =
  'an actor\'s name is 1 to 63 characters of a-z, 0-9 and "-", with no "-" at either end';
export const RESERVED_NAME_RULE = 'names that start with "x-" are reserved for the mesh';

/** Whether the value is a valid actor name (a DNS label). It may be a reserved one. */
export function isActorName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_NAME && ACTOR_NAME.test(value);
}

/** Names that start with `x-` are reserved for the mesh (x-sink, x-sump, x-dlq). They never appear in a route. */
export function isReservedName(name: string): boolean {
  return name.startsWith('x-');
}

/** A name that a route, a policy or the `_on_error` header may contain. */
export function isRoutableName(value: unknown): value is string {
  return isActorName(value) && !isReservedName(value);
}
