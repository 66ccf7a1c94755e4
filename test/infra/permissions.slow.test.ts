import { CfnResource, type Stack } from 'aws-cdk-lib';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { defined } from '../../lib/core/text/defined.ts';
import { actorText, manifestOf } from '../config/manifest/a-mesh.ts';
import { queuesFor, stackOf, type TemplateJson } from './a-mesh-stack.ts';

/**
 * For random meshes, IAM allows an actor to send to exactly the queues that its mesh requires. The test computes these
 * queues independently of the plan.
 */

const NAMES = ['a', 'b', 'c', 'd'] as const;
type Name = (typeof NAMES)[number];

interface RandomMesh {
  readonly actors: readonly {
    readonly name: Name;
    readonly next: readonly Name[];
    readonly onError: Name | undefined;
    readonly onExhausted: readonly Name[];
    readonly escalates: boolean;
  }[];
  readonly flows: readonly (readonly Name[])[];
}

const mesh: fc.Arbitrary<RandomMesh> = fc.subarray([...NAMES], { minLength: 1 }).chain((names) => {
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
      onExhausted: some,
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
    onExhausted: fc.constant([] as Name[]),
    escalates: fc.boolean(),
  });
}

function textsOf({ actors, flows }: RandomMesh): Record<string, string> {
  const documents = actors.map(({ name, next, onError, onExhausted, escalates }) => {
    const policies = {
      ...(onExhausted.length === 0 ? {} : { other: { onExhausted } }),
      ...(escalates ? { escalating: { onExhausted: { action: 'escalate', topic: 'elsewhere' } } } : {}),
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
  const entries = flows.map(([entrypoint, ...route], index) => ({
    name: `f${index}`,
    entrypoint,
    route_next: route,
  }));
  return { ...Object.fromEntries(documents), 'flows.yaml': JSON.stringify({ flows: entries }) };
}

/** All queues that an actor may have to send to. */
function expectedSends({ actors, flows }: RandomMesh, name: Name): readonly string[] {
  const own = actors.find((actor) => actor.name === name);
  if (own === undefined) return [];
  const pairs = [...flows, ...actors.map(({ onExhausted }) => onExhausted)].flatMap((route) =>
    route.slice(1).map((to, index) => [route[index], to] as const),
  );
  const successors = pairs.filter(([from]) => from === name).map(([, to]) => to);
  const errorActors = [...own.onExhausted.slice(0, 1), ...(own.onError === undefined ? [] : [own.onError])];
  const inMesh = [name, 'x-sink', ...own.next, ...successors, ...errorActors].map((to) => `asya-dev-m-${to}`);
  return [...new Set([...inMesh, ...(own.escalates ? ['elsewhere'] : [])])].sort();
}

const RECEIVE = [
  'sqs:ReceiveMessage',
  'sqs:DeleteMessage',
  'sqs:ChangeMessageVisibility',
  'sqs:GetQueueAttributes',
];

/** The resource types to render. A full synthesis takes ten times as long. */
const RENDERED_TYPES = ['AWS::IAM::Policy', 'AWS::Lambda::Function', 'AWS::SQS::Queue'];

function partOfTemplate(stack: Stack): TemplateJson {
  const found = stack.node
    .findAll()
    .filter((node) => node instanceof CfnResource && RENDERED_TYPES.includes(node.cfnResourceType));
  const parts = found.map((node) => stack.resolve((node as Rendered)._toCloudFormation()) as TemplateJson);
  return { Resources: Object.assign({}, ...parts.map(({ Resources }) => Resources)), Outputs: {} };
}

/** The method is public, but not in the types. */
type Rendered = CfnResource & { _toCloudFormation(): object };

test('in 300 random meshes each actor may send only along its edges', { timeout: 240_000 }, () => {
  const stackTraceLimit = Error.stackTraceLimit;
  // The CDK records a stack trace for each construct.
  Error.stackTraceLimit = 0;
  onTestFinished(() => {
    Error.stackTraceLimit = stackTraceLimit;
  });
  let edges = 0;
  const property = fc.property(mesh, (random) => {
    const template = partOfTemplate(stackOf(manifestOf(textsOf(random)), { meshName: 'm' }));
    for (const { name } of random.actors) {
      const sends = queuesFor(template, name, 'sqs:SendMessage');
      expect({ name, sends }).toEqual({ name, sends: expectedSends(random, name) });
      for (const action of RECEIVE) expect(queuesFor(template, name, action)).toEqual([`asya-dev-m-${name}`]);
      edges += sends.length;
    }
    const senders = [...random.actors.map(({ name }) => name as string), 'x-sink', 'x-sump', 'x-dlq'];
    const toSump = senders.filter((name) =>
      queuesFor(template, name, 'sqs:SendMessage').includes('asya-dev-m-x-sump'),
    );
    // x-sump sends deliveries that are not yet due to its own queue.
    expect(toSump).toEqual(['x-sink', 'x-sump']);
  });
  fc.assert(property, { numRuns: 300, seed: Number(process.env['LAW_SEED'] ?? 20_260_101) });
  expect(edges).toBeGreaterThan(1_500);
});
