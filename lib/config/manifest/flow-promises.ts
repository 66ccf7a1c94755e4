import type { Manifest } from './manifest.ts';

/** For each actor the shortest time in which a flow through it has to be over; actors without one are not in it. */
export function promisedSeconds({ flows }: Manifest): ReadonlyMap<string, number> {
  const promised = new Map<string, number>();
  for (const { entrypoint, routeNext, timeoutSeconds } of flows) {
    if (timeoutSeconds === undefined) continue;
    for (const actor of [entrypoint, ...routeNext]) {
      promised.set(actor, Math.min(timeoutSeconds, promised.get(actor) ?? Number.POSITIVE_INFINITY));
    }
  }
  return promised;
}
