import type { ActorSpec, Manifest } from '../manifest/manifest.ts';

/** Whom an actor may send to, its own queue and the mesh's own actors apart. */
export interface ActorEdges {
  /**
   * Who follows it: by the flows, by lists of `onExhausted`, and by its own `next`. Whom its handler may put into the
   * rest of a route (`ASYA_ROUTE_ALLOW`).
   */
  readonly successors: ReadonlySet<string>;
  /** Who takes its failures: its `onExhausted` and `onError`. */
  readonly rescuers: ReadonlySet<string>;
  /** Queues or topics that its failures are escalated to; they need not be actors. */
  readonly escalations: ReadonlySet<string>;
  /** Every actor whose queue it has to be able to send to: for whoever grants it. */
  readonly sendsTo: ReadonlySet<string>;
}

/**
 * Who may send to whom. A mesh declares it: what neither a flow nor `next` says is refused, by the sidecar with a
 * ValidationError that says why, and by the permissions that are made from the same edges.
 *
 * Successors are those who follow at once. A handler that puts a step before the rest of its route (`[extra, ...rest]`)
 * names the rest too, so such an actor has to list these in `next`: that it may jump over steps which a flow puts
 * between is nothing to be granted in passing. For the same reason `next` has to list whomever an `_on_error` header
 * may name.
 *
 * The second actor of an `onExhausted` list follows the first one, not the actor that failed.
 */
export function edgesOf({ actors, flows }: Manifest): ReadonlyMap<string, ActorEdges> {
  const successors = new Map(actors.map(({ name, next = [] }) => [name, new Set(next)]));
  const follow = (route: readonly string[]) => {
    for (const [index, name] of route.slice(1).entries()) successors.get(route[index] ?? '')?.add(name);
  };
  for (const { entrypoint, routeNext } of flows) follow([entrypoint, ...routeNext]);
  for (const route of actors.flatMap(rescueRoutes)) follow(route);
  return new Map(
    actors.map((actor) => [actor.name, edgesOfActor(actor, successors.get(actor.name) ?? new Set())]),
  );
}

function edgesOfActor(actor: ActorSpec, successors: ReadonlySet<string>): ActorEdges {
  const rescuers = new Set(rescueRoutes(actor).flatMap(([first]) => first ?? []));
  const escalations = new Set(
    [...actor.resiliency.policies.values()].flatMap(({ onExhausted }) =>
      onExhausted.action === 'escalate' ? [onExhausted.topic] : [],
    ),
  );
  return { successors, rescuers, escalations, sendsTo: new Set([...successors, ...rescuers]) };
}

/** `onError` is worked into the policies. */
function rescueRoutes({ resiliency }: ActorSpec): readonly (readonly string[])[] {
  return [...resiliency.policies.values()].flatMap(({ onExhausted }) =>
    onExhausted.action === 'route' ? [onExhausted.actors] : [],
  );
}
