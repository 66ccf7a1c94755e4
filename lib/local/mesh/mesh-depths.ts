import type { QueueDepths } from '../../adapters/sqs/queue-depths.ts';
import type { Manifest } from '../../config/manifest/manifest.ts';
import type { FunctionPlan } from '../../config/plan/function-plan.ts';
import { GATEWAY } from '../../config/plan/gateway-plan.ts';
import type { MeshBroker } from './mesh-broker.ts';

/** The depths of all queues by actor, in a fixed order: along the flows, then the other actors, then the crew. */
export async function meshDepths(
  manifest: Manifest,
  functions: readonly FunctionPlan[],
  broker: Pick<MeshBroker, 'depths'>,
): Promise<ReadonlyMap<string, QueueDepths | undefined>> {
  const queues = new Map(functions.flatMap(({ actor, queue }) => (queue ? [[actor, queue.name]] : [])));
  const along = actorOrder(manifest).filter((actor) => queues.has(actor));
  const actors = new Set([...along, ...queues.keys()]);
  return new Map(
    await Promise.all(
      Array.from(actors, async (actor) => {
        const depths = await broker.depths(queues.get(actor) ?? '');
        // Its delayed messages are timers, not retries.
        const own = actor === GATEWAY && depths !== undefined ? { ...depths, delayed: 0 } : depths;
        return [actor, own] as const;
      }),
    ),
  );
}

/** The order in which people think of a mesh: along its flows, then the other actors as the manifest lists them. */
function actorOrder({ actors, flows }: Manifest): readonly string[] {
  const names = actors.map(({ name }) => name);
  const along = flows.flatMap(({ entrypoint, routeNext }) => [entrypoint, ...routeNext]);
  return [...new Set([...along.filter((name) => names.includes(name)), ...names])];
}
