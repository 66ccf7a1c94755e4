import type { Route } from './envelope.ts';

/**
 * The route after the current actor: on to the given actors, or to the end if there are none.
 * `shiftRoute(route, route.next)` advances by one hop.
 */
export function shiftRoute(route: Route, actors: readonly string[]): Route {
  const [curr = '', ...next] = actors;
  return { ...route, prev: [...route.prev, route.curr], curr, next };
}

/** The number of actors that an envelope has passed. Envelope id, actor and hop identify a visit, also on redelivery. */
export function hopOf(route: Route): number {
  return route.prev.length;
}
