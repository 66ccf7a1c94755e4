import type { Route } from './envelope.ts';

/** From here to these actors in turn, or to the end where there are none: `shiftRoute(route, route.next)` is a hop. */
export function shiftRoute(route: Route, actors: readonly string[]): Route {
  const [curr = '', ...next] = actors;
  return { ...route, prev: [...route.prev, route.curr], curr, next };
}

/** How many actors an envelope has passed: with id and actor it names one visit, whatever the broker repeats. */
export function hopOf(route: Route): number {
  return route.prev.length;
}
