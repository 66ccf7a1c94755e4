import { CfnResource, type Stack } from 'aws-cdk-lib';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { defined } from '../../lib/core/text/defined.ts';
import { actorText, manifestOf } from '../config/manifest/a-mesh.ts';
import { queuesFor, stackOf, type TemplateJson } from './a-mesh-stack.ts';

/**
 * Over random meshes: what IAM lets an actor send to is what the mesh says, told here a second time and in other
 * words than the plan's.
 */

const NAMES = ['a', 'b', 'c', 'd'] as const;
type Name = (typeof NAMES)[number];

interface Drawn {
  readonly actors: readonly {
    readonly name: Name;
    readonly next: readonly Name[];
    readonly onError: Name | undefined;
    readonly rescue: readonly Name[];
    readonly escalates: boolean;
  }[];
  readonly flows: readonly (readonly Name[])[];
}

const mesh: fc.Arbitrary<Drawn> = fc.subarray([...NAMES], { minLength: 1 }).chain((names) => {
  const one = fc.constantFrom(...names);
  const some = fc.uniqueArray(one, { maxLength: 3 });
  const actor = (name: Name) =>
    fc.record({
      name: fc.constant(name),
      next: some,
      onError: fc.option(
        one.filter((other) => other !== name),
        { nil: undefined },
      ),
      rescue: some,
      escalates: fc.boolean(),
    });
  const actors = names.length === 1 ? names.map((name) => soleActor(name)) : names.map(actor);
  return fc.record({
    actors: fc.tuple(...actors),
    flows: fc.array(fc.array(one, { minLength: 1, maxLength: 4 }), { maxLength: 3 }),
  });
});

function soleActor(name: Name) {
  return fc.record({
    name: fc.constant(name),
    next: fc.constant([] as Name[]),
    onError: fc.constant(undefined),
    rescue: fc.constant([] as Name[]),
    escalates: fc.boolean(),
  });
}

function textsOf({ actors, flows }: Drawn): Record<string, string> {
  const documents = actors.map(({ name, next, onError, rescue, escalates }) => {
    const policies = {
      ...(rescue.length === 0 ? {} : { rescue: { onExhausted: rescue } }),
      ...(escalates ? { loud: { onExhausted: { action: 'escalate', topic: 'elsewhere' } } } : {}),
    };
    return [
      `${name}.yaml`,
      actorText(
        name,
        'handler: module.handle',
        `next: ${JSON.stringify(next)}`,
        `resiliency: ${JSON.stringify({ policies, ...defined({ onError }) })}`,
      ),
    ];
  });
  const entries = flows.map(([entrypoint, ...route], at) => ({
    name: `f${at}`,
    entrypoint,
    route_next: route,
  }));
  return { ...Object.fromEntries(documents), 'flows.yaml': JSON.stringify({ flows: entries }) };
}

/** Whom an actor's envelopes can have to go to. */
function mayReach({ actors, flows }: Drawn, name: Name): readonly string[] {
  const own = actors.find((actor) => actor.name === name);
  if (own === undefined) return [];
  const pairs = [...flows, ...actors.map(({ rescue }) => rescue)].flatMap((route) =>
    route.slice(1).map((to, at) => [route[at], to] as const),
  );
  const followers = pairs.filter(([from]) => from === name).map(([, to]) => to);
  const rescuers = [...own.rescue.slice(0, 1), ...(own.onError === undefined ? [] : [own.onError])];
  const inMesh = [name, 'x-sink', ...own.next, ...followers, ...rescuers].map((to) => `asya-dev-m-${to}`);
  return [...new Set([...inMesh, ...(own.escalates ? ['elsewhere'] : [])])].sort();
}

const RECEIVE = [
  'sqs:ReceiveMessage',
  'sqs:DeleteMessage',
  'sqs:ChangeMessageVisibility',
  'sqs:GetQueueAttributes',
];

/** What a synthesis would write of these resources, without the rest of it, which takes ten times as long. */
const LOOKED_AT = ['AWS::IAM::Policy', 'AWS::Lambda::Function', 'AWS::SQS::Queue'];

function partOfTemplate(stack: Stack): TemplateJson {
  const found = stack.node
    .findAll()
    .filter((node) => node instanceof CfnResource && LOOKED_AT.includes(node.cfnResourceType));
  const parts = found.map((node) => stack.resolve((node as Written)._toCloudFormation()) as TemplateJson);
  return { Resources: Object.assign({}, ...parts.map(({ Resources }) => Resources)), Outputs: {} };
}

/** Public, but for the types. */
type Written = CfnResource & { _toCloudFormation(): object };

test('over 300 meshes IAM lets no actor reach a queue outside its edges', { timeout: 240_000 }, () => {
  const traces = Error.stackTraceLimit;
  // The CDK notes for everything where it was made.
  Error.stackTraceLimit = 0;
  onTestFinished(() => {
    Error.stackTraceLimit = traces;
  });
  let edges = 0;
  const property = fc.property(mesh, (drawn) => {
    const template = partOfTemplate(stackOf(manifestOf(textsOf(drawn)), { meshName: 'm' }));
    for (const { name } of drawn.actors) {
      const sends = queuesFor(template, name, 'sqs:SendMessage');
      expect({ name, sends }).toEqual({ name, sends: mayReach(drawn, name) });
      for (const action of RECEIVE) expect(queuesFor(template, name, action)).toEqual([`asya-dev-m-${name}`]);
      edges += sends.length;
    }
    const everybody = [...drawn.actors.map(({ name }) => name as string), 'x-sink', 'x-sump', 'x-dlq'];
    const toSump = everybody.filter((name) =>
      queuesFor(template, name, 'sqs:SendMessage').includes('asya-dev-m-x-sump'),
    );
    // Its own queue is for what it cannot work on yet.
    expect(toSump).toEqual(['x-sink', 'x-sump']);
  });
  fc.assert(property, { numRuns: 300, seed: Number(process.env['LAW_SEED'] ?? 20_260_101) });
  expect(edges).toBeGreaterThan(1_500);
});
