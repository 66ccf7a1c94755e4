const ACTOR_NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;
const MAX_NAME = 63;

export const ACTOR_NAME_RULE =
  'an actor\'s name is 1 to 63 characters of a-z, 0-9 and "-", with no "-" at either end';

export function isActorName(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_NAME && ACTOR_NAME.test(value);
}

/** The mesh's own actors: x-sink, x-sump, x-dlq and whatever joins them. They never stand in a route. */
export function isCrewName(name: string): boolean {
  return name.startsWith('x-');
}

/** A name that a user's route, rule or header may hold. */
export function isRoutableName(value: unknown): value is string {
  return isActorName(value) && !isCrewName(value);
}
