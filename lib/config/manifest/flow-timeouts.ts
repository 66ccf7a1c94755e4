import type { Manifest } from './manifest.ts';

/** The shortest timeout, in seconds, of the flows through each actor. Actors without such a flow are not included. */
export function shortestFlowTimeouts({ flows }: Manifest): ReadonlyMap<string, number> {
  const shortest = new Map<string, number>();
  for (const { entrypoint, routeNext, timeoutSeconds } of flows) {
    if (timeoutSeconds === undefined) continue;
    for (const actor of [entrypoint, ...routeNext]) {
      shortest.set(actor, Math.min(timeoutSeconds, shortest.get(actor) ?? Number.POSITIVE_INFINITY));
    }
  }
  return shortest;
}
