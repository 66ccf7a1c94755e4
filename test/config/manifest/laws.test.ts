import fc from 'fast-check';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { ActorSpec, Manifest } from '../../../lib/config/manifest/manifest.ts';
import { readManifest } from '../../../lib/config/manifest/read-manifest.ts';
import { edgesOf } from '../../../lib/config/plan/edges.ts';
import { resiliencyInput } from '../../../lib/core/policy/resiliency-input.ts';
import type { Flow } from '../../../lib/core/task/flow.ts';
import { durationText } from '../../../lib/core/text/duration.ts';
import { resiliencyOf } from '../../core/a-delivery.ts';
import { filesOf, mistakeLines, type Texts } from './a-mesh.ts';

/** Writing and reading a mesh takes milliseconds, so the default number of runs is lower than for other laws. */
const RUNS = {
  numRuns: Number(process.env['LAW_RUNS'] ?? 200),
  seed: Number(process.env['LAW_SEED'] ?? 20_260_101),
};

const record = <T>(model: { [Key in keyof T]: fc.Arbitrary<T[Key]> }) =>
  fc.record(model, { noNullPrototype: true });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const present = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const name = fc.stringMatching(/^[a-wyz]([a-z0-9-]{0,10}[a-z0-9])?$/);
const identifier = fc.stringMatching(/^[a-z_]{1,6}$/).filter((text) => !['ts', 'js', 'py'].includes(text));
const seconds = fc.integer({ min: 1, max: 3_600 });
const variable = fc.stringMatching(/^[B-Z][A-Z0-9_]{0,8}$/);

/** In lowercase: IAM ignores case, so two labels must not differ in case only. */
const label = fc.stringMatching(/^[b-z][a-z0-9 _.:/=+@-]{0,20}$/);

const runtime: fc.Arbitrary<ActorSpec['runtime']> = fc.oneof(
  identifier.map((part) => ({ kind: 'node' as const, handler: `./${part}.ts.${part}` })),
  fc.tuple(identifier, identifier).map((parts) => ({ kind: 'python' as const, handler: parts.join('.') })),
  identifier.map((image) => ({ kind: 'image' as const, image })),
  identifier.map((path) => ({ kind: 'url' as const, url: `http://host.example/${path}` })),
);

const policy = record({
  maxAttempts: fc.integer({ min: 1, max: 9 }),
  initialDelay: seconds.map((count) => `${count}s`),
  jitter: fc.boolean(),
});

/** A compiled mesh. Its files are written from it. */
const manifest: fc.Arbitrary<Manifest> = fc
  .uniqueArray(name, { minLength: 1, maxLength: 4 })
  .chain((names) => {
    const anyActor = fc.constantFrom(...names);
    const actor = (own: string): fc.Arbitrary<ActorSpec> =>
      record({
        name: fc.constant(own),
        file: fc.constant(`${own}.yaml`),
        labels: fc.dictionary(label, fc.stringMatching(/^[A-Za-z0-9 _.:/=+@-]{0,20}$/), {
          noNullPrototype: true,
        }),
        runtime,
        timeoutMs: seconds.map((count) => count * 1000),
        visibilitySeconds: maybe(fc.integer({ min: 3_601, max: 43_200 })),
        resiliency: fc
          .dictionary(fc.constantFrom('default', 'slow', 'quick'), policy, { noNullPrototype: true })
          .chain((policies) =>
            fc.array(fc.constantFrom('noRetry', ...Object.keys(policies)), { maxLength: 2 }).map((used) =>
              resiliencyOf(
                policies,
                used.map((policyName) => ({ errors: ['ValueError', 'http:5xx'], policy: policyName })),
              ),
            ),
          ),
        scaling: record({
          maxReplicas: fc.integer({ min: 1, max: 1_000 }),
          batchSize: fc.integer({ min: 1, max: 10 }),
          batchWindowSeconds: fc.integer({ min: 0, max: 300 }),
          concurrency: fc.integer({ min: 1, max: 50 }),
        }),
        memoryMb: fc.integer({ min: 128, max: 10_240 }),
        environment: fc.dictionary(variable, fc.string({ unit: 'grapheme' }), { noNullPrototype: true }),
        next: maybe(fc.array(anyActor, { maxLength: 3 })),
      }).map((spec) => present(spec) as unknown as ActorSpec);
    const flow: fc.Arbitrary<Flow> = record({
      name,
      entrypoint: anyActor,
      routeNext: fc.array(anyActor, { maxLength: 3 }),
      description: maybe(fc.string({ minLength: 1 }).filter((text) => text.trim() !== '')),
      timeoutSeconds: maybe(seconds.map((count) => count + 1)),
      mcp: maybe(fc.constant({ inputSchema: { type: 'object' } })),
      a2a: maybe(fc.constant({ tags: ['a'] })),
    }).map((fields) => present(fields) as unknown as Flow);
    return record<Manifest>({
      actors: fc.tuple(...names.map(actor)),
      flows: fc.uniqueArray(flow, { selector: (one) => one.name, maxLength: 3 }),
    });
  });

function actorInput(actor: ActorSpec): unknown {
  const { kind, ...parts } = actor.runtime;
  return {
    apiVersion: 'asya.sh/v1alpha1',
    kind: 'AsyncActor',
    metadata: { name: actor.name, labels: actor.labels },
    spec: present({
      runtime: kind,
      ...parts,
      resiliency: present({
        actorTimeout: durationText(actor.timeoutMs),
        visibilityTimeout:
          actor.visibilitySeconds === undefined ? undefined : durationText(actor.visibilitySeconds * 1000),
        ...resiliencyInput(actor.resiliency),
      }),
      scaling: {
        maxReplicas: actor.scaling.maxReplicas,
        batchSize: actor.scaling.batchSize,
        batchWindow: durationText(actor.scaling.batchWindowSeconds * 1000),
        concurrency: actor.scaling.concurrency,
      },
      memory: actor.memoryMb,
      environment: actor.environment,
      next: actor.next,
    }),
  };
}

function flowInput(flow: Flow): unknown {
  const { routeNext, timeoutSeconds, ...same } = flow;
  return present({ ...same, route_next: routeNext, timeout: timeoutSeconds });
}

function textsOf({ actors, flows }: Manifest): Readonly<Record<string, string>> {
  return {
    ...Object.fromEntries(actors.map((actor) => [actor.file, stringify(actorInput(actor))])),
    'flows.yaml': stringify({ flows: flows.map(flowInput) }),
  };
}

it('reads every valid mesh', () => {
  const kinds = new Set<string>();
  fc.assert(
    fc.property(manifest, (written) => {
      const reading = readManifest(filesOf(textsOf(written)));
      expect(mistakeLines(reading)).toEqual([]);
      expect(reading).toMatchObject({ manifest: written });
      expect(edgesOf(written).size).toBe(written.actors.length);
      for (const { runtime: own, next } of written.actors) kinds.add(own.kind).add(next ? 'closed' : 'open');
      kinds.add(written.flows.length === 0 ? 'no flows' : 'flows');
    }),
    RUNS,
  );
  expect([...kinds].sort()).toEqual([
    'closed',
    'flows',
    'image',
    'no flows',
    'node',
    'open',
    'python',
    'url',
  ]);
});

/** Removes and replaces parts of a valid text, like typos and merges do. */
const mutated = fc
  .tuple(
    manifest,
    fc.array(
      fc.tuple(
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 0, max: 12 }),
        fc.oneof(
          fc.constantFrom(
            '',
            '\t',
            ': ',
            '- ',
            '[',
            '{',
            '}',
            '"',
            "'",
            '&a ',
            '*a',
            '<<: ',
            '!!x ',
            '\n',
            '---\n',
            '|\n',
            '%',
            '\0',
          ),
          fc.string({ maxLength: 5 }),
        ),
      ),
      { minLength: 1, maxLength: 4 },
    ),
  )
  .map(([written, changes]) =>
    Object.fromEntries(
      Object.entries(textsOf(written)).map(([path, text]) => [
        path,
        changes.reduce((changed, [where, cut, put]) => {
          const at = Math.floor(where * changed.length);
          return changed.slice(0, at) + put + changed.slice(at + cut);
        }, text),
      ]),
    ),
  );

/** Replaces values with arbitrary other values. */
const withReplacedValues = fc
  .tuple(
    manifest,
    fc.array(fc.tuple(fc.nat(), fc.jsonValue({ maxDepth: 2 })), { minLength: 1, maxLength: 4 }),
  )
  .map(([{ actors, flows }, changes]) => {
    const inputs = { actors: actors.map(actorInput), flows: { flows: flows.map(flowInput) } };
    const changed = changes.reduce<unknown>((input, [place, value]) => replaced(input, place, value), inputs);
    const { actors: some, flows: others } = changed as { actors: unknown; flows: unknown };
    const texts = Array.isArray(some) ? some.map((one) => stringify(one)) : [stringify(some)];
    return { 'actors.yaml': texts.join('---\n'), 'flows.yaml': stringify(others) };
  });

/** Replaces the value with this index among all values below the root. */
function replaced(root: unknown, place: number, value: unknown): unknown {
  const copy = structuredClone(root);
  const places: (readonly [holder: Record<string, unknown>, key: string])[] = [];
  const walk = (holder: Record<string, unknown>) => {
    for (const [key, held] of Object.entries(holder)) {
      if (holder !== copy) places.push([holder, key]);
      if (typeof held === 'object' && held !== null) walk(held as Record<string, unknown>);
    }
  };
  walk(copy as Record<string, unknown>);
  const [holder, key] = places[place % Math.max(1, places.length)] ?? [];
  if (holder !== undefined && key !== undefined) holder[key] = value;
  return copy;
}

const anything = fc.dictionary(
  fc.constantFrom('a.yaml', 'b.yml', 'flows.yaml', 'deep/c.yaml'),
  fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom(...'[]{}:,-?&*!|>\'"%@`# \n\tab1<') }),
    fc.anything({ maxDepth: 4 }).map((value) => {
      try {
        return stringify(value);
      } catch {
        return '';
      }
    }),
  ),
  { noNullPrototype: true },
);

it('never throws, and locates every mistake in a file', () => {
  const counts = { read: 0, refused: 0 };
  fc.assert(
    fc.property(fc.oneof(mutated, withReplacedValues, anything), (texts: Texts) => {
      const reading = readManifest(filesOf(texts));
      counts['manifest' in reading ? 'read' : 'refused']++;
      for (const { place, problem, file, line, column } of 'mistakes' in reading ? reading.mistakes : []) {
        expect(line).toBeGreaterThan(0);
        expect(line).toBeLessThanOrEqual(texts[file]?.split('\n').length ?? 0);
        expect(column).toBeGreaterThan(0);
        expect(place.startsWith(`${file}:${line}:${column}`)).toBe(true);
        expect(`${place}${problem}`).not.toMatch(/\n/);
      }
    }),
    RUNS,
  );
  expect(counts.read).toBeGreaterThan(0);
  expect(counts.refused).toBeGreaterThan(0);
});
