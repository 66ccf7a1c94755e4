import type { ActorSpec, Manifest } from '../manifest/manifest.ts';

/** The actors to which an actor may send, besides itself and the crew. */
export interface ActorEdges {
  /**
   * The actors that may follow it: by the flows, by lists of `onExhausted`, and by its own `next`. Its handler may put
   * them into the rest of a route (`ASYA_ROUTE_ALLOW`).
   */
  readonly successors: ReadonlySet<string>;
  /** The actors that receive its failures: `onExhausted` and `onError`. */
  readonly errorActors: ReadonlySet<string>;
  /** Queues or topics for escalated failures. They need not be actors. */
  readonly escalations: ReadonlySet<string>;
  /** Every actor to whose queue it needs permission to send. */
  readonly sendsTo: ReadonlySet<string>;
}

/**
 * Which actor may send to which. A mesh declares it in its flows and in `next`. The sidecar rejects anything else with
 * a ValidationError that gives the reason, and the permissions are derived from the same edges.
 *
 * Successors are the actors directly after an actor. A handler that puts a step before the rest of its route
 * (`[extra, ...rest]`) also names the rest, so `next` must list those actors: otherwise a flow would implicitly
 * allow its actors to skip steps. For the same reason `next` must list every actor that an `_on_error` header may name.
 *
 * The second actor of an `onExhausted` list follows the first one, not the actor that failed.
 */
export function edgesOf({ actors, flows }: Manifest): ReadonlyMap<string, ActorEdges> {
  const successors = new Map(actors.map(({ name, next = [] }) => [name, new Set(next)]));
  const follow = (route: readonly string[]) => {
    for (const [index, name] of route.slice(1).entries()) successors.get(route[index] ?? '')?.add(name);
  };
  for (const { entrypoint, routeNext } of flows) follow([entrypoint, ...routeNext]);
  for (const route of actors.flatMap(errorRoutes)) follow(route);
  return new Map(
    actors.map((actor) => [actor.name, edgesOfActor(actor, successors.get(actor.name) ?? new Set())]),
  );
}

function edgesOfActor(actor: ActorSpec, successors: ReadonlySet<string>): ActorEdges {
  const errorActors = new Set(errorRoutes(actor).flatMap(([first]) => first ?? []));
  const escalations = new Set(
    [...actor.resiliency.policies.values()].flatMap(({ onExhausted }) =>
      onExhausted.action === 'escalate' ? [onExhausted.topic] : [],
    ),
  );
  return { successors, errorActors, escalations, sendsTo: new Set([...successors, ...errorActors]) };
}

/** The policies already contain `onError`. */
function errorRoutes({ resiliency }: ActorSpec): readonly (readonly string[])[] {
  return [...resiliency.policies.values()].flatMap(({ onExhausted }) =>
    onExhausted.action === 'route' ? [onExhausted.actors] : [],
  );
}
