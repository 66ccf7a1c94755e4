import { describe, expect, it } from 'vitest';
import { bucketReference } from '../../../lib/config/manifest/access.ts';
import { type ManifestReading, readManifest } from '../../../lib/config/manifest/read-manifest.ts';
import { mistakesText } from '../../../lib/core/text/mistake.ts';
import { filesOf } from './a-mesh.ts';

/** A valid mesh that has every field of the manifest, and values that depend on each other. */
const FULL: Json = {
  'score.yaml': {
    apiVersion: 'asya.sh/v1alpha1',
    kind: 'AsyncActor',
    metadata: {
      name: 'score',
      namespace: 'prod',
      labels: { team: 'vision', 'asya.sh/flow': 'image' },
      annotations: { 'example.com/contact': 'vision' },
    },
    spec: {
      handler: 'score.ts.score',
      runtime: 'node',
      resiliency: {
        actorTimeout: '20m',
        visibilityTimeout: '40m',
        policies: {
          default: {
            maxAttempts: 3,
            backoff: 'linear',
            initialDelay: '1s',
            maxInterval: '30s',
            jitter: true,
          },
          patient: {
            maxAttempts: 'unlimited',
            backoff: 'constant',
            initialInterval: '1s',
            maxDuration: '1h',
          },
          lasting: { maxAttempts: 'unlimited', expireAfter: '2h', onExhausted: { action: 'drop' } },
          listed: { maxAttempts: 5, backoff: 'schedule', delays: ['1s', '5s'], onExhausted: ['review'] },
          loud: { maxAttempts: 1, onExhausted: { action: 'escalate', topic: 'alerts' } },
        },
        rules: [
          { errors: ['TypeError', 'http:503'], policy: 'patient' },
          { errors: ['http:5xx'], policy: 'listed' },
          { errors: ['RangeError', 'pkg.Own'], policy: 'noRetry' },
        ],
        onError: 'review',
      },
      scaling: { maxReplicas: 20, batchSize: 100, batchWindow: '5s', concurrency: 2 },
      memory: '1Gi',
      environment: { MODEL: 'small', SIZE: 1.5, FAST: true },
      secrets: {
        API_KEY: { secretsManager: 'my/openai', key: 'api_key' },
        TOKEN: { ssm: '/my/token' },
      },
      permissions: [
        { actions: ['s3:GetObject'], resources: [bucketReference('pictures', '/*')] },
        { actions: ['dynamodb:GetItem'], resources: ['arn:aws:dynamodb:eu-west-1:111111111111:table/t'] },
      ],
      buckets: ['pictures'],
      local: { aws: 'embedded' },
      next: ['review'],
    },
  },
  'review.yaml': {
    apiVersion: 'asya.sh/v1alpha1',
    kind: 'AsyncActor',
    metadata: {},
    spec: { actor: 'review', handler: 'steps.review', runtime: 'python', resiliency: { actorTimeout: '1m' } },
  },
  'image.yaml': {
    apiVersion: 'asya.sh/v1alpha1',
    kind: 'AsyncActor',
    metadata: { name: 'image' },
    spec: { image: 'registry/image:1', handler: 'steps.go', memory: 512, resiliency: { onError: 'review' } },
  },
  'web.yaml': {
    apiVersion: 'asya.sh/v1alpha1',
    kind: 'AsyncActor',
    metadata: { name: 'web' },
    spec: { url: 'http://localhost:1/', scaling: { batchSize: 10 } },
  },
  'flows.yaml': {
    flows: [
      {
        name: 'all',
        entrypoint: 'score',
        route_next: ['image', 'review'],
        description: 'Scores',
        timeout: 3600,
        mcp: { inputSchema: { type: 'object' } },
        a2a: { name: 'Score', tags: ['a'] },
      },
      { name: 'quick', entrypoint: 'review', timeout: 60 },
    ],
  },
};

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
type Path = readonly (string | number)[];

function read(mesh: Json): ManifestReading {
  const texts = Object.entries(mesh as object).map(([file, value]) => [file, JSON.stringify(value, null, 1)]);
  return readManifest(filesOf(Object.fromEntries(texts)));
}

function problemsOf(mesh: Json): readonly string[] {
  const reading = read(mesh);
  const mistakes = 'mistakes' in reading ? reading.mistakes : [];
  return [...mistakes, ...reading.warnings].map((one) => mistakesText([one]));
}

/** Every value below the documents, with its path. */
function pathsIn(value: Json, path: Path = []): readonly Path[] {
  const inside =
    value === null || typeof value !== 'object'
      ? []
      : Object.entries(value).flatMap(([key, one]) =>
          pathsIn(one, [...path, Array.isArray(value) ? Number(key) : key]),
        );
  return path.length < 2 ? inside : [path, ...inside];
}

function valueAt(value: Json, path: Path): Json {
  return path.reduce((at: Json, step) => (at as Record<string | number, Json>)[step] ?? null, value);
}

/** The same mesh with one value replaced, or without it. */
function broken(mesh: Json, path: Path, wrong: Json | undefined): Json {
  const copy = structuredClone(mesh) as Record<string | number, Json>;
  const holder = valueAt(copy, path.slice(0, -1)) as Record<string | number, Json>;
  const last = path.at(-1) ?? '';
  if (wrong !== undefined) holder[last] = wrong;
  else if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else delete holder[last];
  return copy;
}

/** The names of fields, without those that users choose. */
function keysIn(mesh: Json): readonly Path[] {
  const chosen = ['labels', 'annotations', 'policies', 'environment', 'secrets', 'a2a', 'inputSchema'];
  return pathsIn(mesh).filter(
    (path) =>
      typeof path.at(-1) === 'string' && !chosen.includes(String(path.at(-2))) && !path.includes('a2a.tags'),
  );
}

/** The same mesh with another name for a field, at the same position. */
function renamed(mesh: Json, path: Path, name: string): Json {
  const copy = structuredClone(mesh) as Record<string | number, Json>;
  const holder = valueAt(copy, path.slice(0, -1)) as Record<string, Json>;
  const entries = Object.entries(holder);
  for (const [key] of entries) delete holder[key];
  for (const [key, value] of entries) holder[key === path.at(-1) ? name : key] = value;
  return copy;
}

/** Values that hardly any field allows. A map for a map would be another valid map, without some of its keys. */
const WRONG: readonly Json[] = [null, 7.5, -1, true, '', '%%', [[]], { odd: [] }];

describe('one wrong value', () => {
  it('is in a mesh that is valid otherwise', () => {
    expect(problemsOf(FULL)).toEqual([]);
  });

  it.each(pathsIn(FULL).map((path) => [path.join('.'), path] as const))(
    'has no more than one problem: %s',
    (_name, path) => {
      const right = valueAt(FULL, path);
      const isMap = typeof right === 'object' && right !== null && !Array.isArray(right);
      const wrong = WRONG.filter(
        (one) => !(isMap && typeof one === 'object' && !Array.isArray(one)) || one === null,
      );
      const found = wrong.map((value) => problemsOf(broken(FULL, path, value)));
      expect(found.filter((problems) => problems.length > 1)).toEqual([]);
      expect(found.flat().length, 'most of the values are wrong').toBeGreaterThanOrEqual(
        path.includes('a2a') || path.includes('inputSchema') ? 0 : 3,
      );
    },
  );

  it.each(keysIn(FULL).map((path) => [path.join('.'), path] as const))(
    'is a misspelt name, and has exactly one problem: %s',
    (_name, path) => {
      const name = String(path.at(-1));
      const at = Math.floor(name.length / 2);
      const misspelt = `${name.slice(0, at)}${name.slice(at + 1)}`;
      const problems = problemsOf(renamed(FULL, path, misspelt));
      expect(problems).toEqual([expect.stringContaining(`is not a known field; did you mean "${name}"?`)]);
    },
  );

  it.each(pathsIn(FULL).map((path) => [path.join('.'), path] as const))(
    'that is missing has no more than one problem: %s',
    (_name, path) => {
      const right = valueAt(FULL, path);
      if (typeof right !== 'object') expect(problemsOf(broken(FULL, path, undefined)).length).toBeLessThan(2);
    },
  );
});
