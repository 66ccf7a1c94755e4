import { expect, it } from 'vitest';
import type { Manifest } from '../../../lib/config/manifest/manifest.ts';
import type { FunctionPlan } from '../../../lib/config/plan/function-plan.ts';
import { meshDepths } from '../../../lib/local/mesh/mesh-depths.ts';

const DEPTHS = { visible: 1, inFlight: 2, delayed: 3, deadLettered: 4 };

function planOf(...actors: readonly string[]): readonly FunctionPlan[] {
  return actors.map((actor) => ({
    actor,
    ...(actor === 'x-dlq' ? {} : { queue: { name: `q-${actor}` } }),
  })) as unknown as readonly FunctionPlan[];
}

function manifestOf(actors: readonly string[], flows: readonly (readonly string[])[]): Manifest {
  return {
    actors: actors.map((name) => ({ name })),
    flows: flows.map(([entrypoint, ...routeNext]) => ({ entrypoint, routeNext })),
  } as unknown as Manifest;
}

const functions = planOf('a', 'b', 'c', 'd', 'x-sink', 'x-sump', 'x-dlq', 'x-gateway');

it('lists the actors along the flows, then the others, then the crew', async () => {
  const manifest = manifestOf(
    ['a', 'b', 'c', 'd'],
    [
      ['d', 'b'],
      ['b', 'elsewhere', 'c'],
    ],
  );
  const depths = await meshDepths(manifest, functions, { depths: async () => DEPTHS });
  expect([...depths.keys()]).toEqual(['d', 'b', 'c', 'a', 'x-sink', 'x-sump', 'x-gateway']);
});

it('keeps the row of a queue whose depths are not known', async () => {
  const broker = { depths: async (queue: string) => (queue === 'q-b' ? undefined : DEPTHS) };
  const depths = await meshDepths(manifestOf(['a', 'b', 'c', 'd'], []), functions, broker);
  expect([...depths].slice(0, 3)).toEqual([
    ['a', DEPTHS],
    ['b', undefined],
    ['c', DEPTHS],
  ]);
});

it("does not count the gateway's timers as retries", async () => {
  const depths = await meshDepths(manifestOf([], []), functions, { depths: async () => DEPTHS });
  expect(depths.get('x-gateway')).toEqual({ ...DEPTHS, delayed: 0 });
  expect(depths.get('x-sink')).toEqual(DEPTHS);
});
