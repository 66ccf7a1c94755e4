import { describe, expect, it } from 'vitest';
import { readMesh } from '../../../lib/assembly/mesh/read-mesh.ts';
import { aFolder } from '../../support/a-folder.ts';
import { actorText, manifestOf, mistakesIn } from './a-mesh.ts';

/** `metadata`: namespace, labels and annotations. */

const ML_INFERENCE = `apiVersion: asya.sh/v1alpha1
kind: AsyncActor
metadata:
  name: ml-inference
  namespace: prod
spec:
  actor: ml-inference
  image: my-org/ml-inference:latest
  handler: inference.handle

  resiliency:
    actorTimeout: 5m  # 5 minutes per call
`;

const IMAGE_ENHANCE = `flows:
- name: image-enhance
  entrypoint: download-image
  route_next: [enhance, upload]
  description: Enhance image quality
  timeout: 120  # SLA: 120 seconds (2 minutes)
  mcp:
    inputSchema:
      type: object
      properties:
        image_url:
          type: string
      required: [image_url]
`;

describe("upstream's examples are valid as printed", () => {
  it('an actor with a namespace', () => {
    expect(readMesh(aFolder({ 'ml-inference.yaml': ML_INFERENCE }))).toMatchObject({
      manifest: {
        actors: [
          {
            name: 'ml-inference',
            runtime: { kind: 'image', image: 'my-org/ml-inference:latest', handler: 'inference.handle' },
            timeoutMs: 300_000,
            labels: {},
          },
        ],
      },
      warnings: [],
    });
  });

  it('an actor with labels and annotations', () => {
    const text = ML_INFERENCE.replace(
      '  namespace: prod\n',
      `  namespace: prod
  labels: {asya.sh/flow: "image-enhance", team: vision}
  annotations:
    example.com/contact: "vision@example.com, #vision"
    "anything goes": ""
`,
    );
    const { actors } = manifestOf({ 'ml-inference.yaml': text });
    expect(actors[0]?.labels).toEqual({ 'asya.sh/flow': 'image-enhance', team: 'vision' });
  });

  it('a flow of three actors', () => {
    const actors = Object.fromEntries(
      ['download-image', 'enhance', 'upload'].map((name) => [
        `${name}.yaml`,
        actorText(name, 'image: my-org/images:latest', `handler: images.${name.replace('-', '_')}`),
      ]),
    );
    expect(readMesh(aFolder({ ...actors, 'flows.yaml': IMAGE_ENHANCE }))).toMatchObject({
      manifest: {
        flows: [
          {
            name: 'image-enhance',
            entrypoint: 'download-image',
            routeNext: ['enhance', 'upload'],
            description: 'Enhance image quality',
            timeoutSeconds: 120,
            mcp: {
              inputSchema: {
                type: 'object',
                properties: { image_url: { type: 'string' } },
                required: ['image_url'],
              },
            },
          },
        ],
      },
    });
  });
});

/** The first of the lines is line 5 of the file. */
function withMetadata(...lines: readonly string[]): string {
  return [
    'apiVersion: asya.sh/v1alpha1',
    'kind: AsyncActor',
    'metadata:',
    '  name: score',
    ...lines.map((line) => `  ${line}`),
    'spec: {handler: module.handle}',
    '',
  ].join('\n');
}

const labelsOf = (...lines: readonly string[]) =>
  manifestOf({ 'score.yaml': withMetadata(...lines) }).actors[0]?.labels;

describe('labels', () => {
  it('accept everything that can be an AWS tag', () => {
    const longest = { key: 'k'.repeat(128), value: 'v'.repeat(256) };
    expect(
      labelsOf(
        'labels:',
        '  "Cost center _.:/=+-@": "ÄÖ 12 _.:/=+-@"',
        '  empty: ""',
        `  ${longest.key}: ${longest.value}`,
        '  awsome: yes',
        '  version: "1.10"',
      ),
    ).toEqual({
      'Cost center _.:/=+-@': 'ÄÖ 12 _.:/=+-@',
      empty: '',
      [longest.key]: longest.value,
      awsome: 'yes',
      version: '1.10',
    });
  });

  it('are limited to 40', () => {
    const some = (count: number) => [
      'labels:',
      ...Array.from({ length: count }, (_, index) => `  l${index}: a`),
    ];
    expect(Object.keys(labelsOf(...some(40)) ?? {})).toHaveLength(40);
    expect(mistakesIn({ 'score.yaml': withMetadata(...some(42)) })).toEqual([
      'score.yaml:5:3 metadata.labels: has 42 labels, and at most 40 can become AWS tags: AWS allows 50 per resource, and 10 are reserved for other tags; remove 2',
    ]);
  });

  it('are optional and may be empty', () => {
    expect(labelsOf()).toEqual({});
    expect(labelsOf('labels: {}', 'annotations: {}')).toEqual({});
  });
});

const TAG_CHARACTERS = 'letters, digits, spaces and _ . : / = + - @';
const NAMESPACE_RULE =
  'a namespace is 1 to 63 characters of a-z, 0-9 and "-", with no "-" at either end, as in Kubernetes';

const MISTAKES: readonly (readonly [what: string, lines: readonly string[], ...mistakes: string[]])[] = [
  [
    'an unknown field',
    ['lables: {team: vision}'],
    '5:3 metadata.lables: is not a known field; did you mean "labels"?',
  ],
  [
    'a namespace that is not a DNS label',
    ['namespace: Prod_EU'],
    `5:3 metadata.namespace: is "Prod_EU"; ${NAMESPACE_RULE}; did you mean "prod-eu"?`,
  ],
  [
    'a namespace that is a number',
    ['namespace: 7'],
    `5:3 metadata.namespace: is 7; ${NAMESPACE_RULE}; did you mean "7"?`,
  ],
  ['a namespace without a value', ['namespace:'], `5:3 metadata.namespace: is null; ${NAMESPACE_RULE}`],
  [
    'a namespace that is too long',
    [`namespace: ${'a'.repeat(64)}`],
    `5:3 metadata.namespace: is "${'a'.repeat(64)}"; ${NAMESPACE_RULE}`,
  ],
  [
    'labels that are a list',
    ['labels: [team]'],
    '5:3 metadata.labels: is ["team"]; expected a map of fields',
  ],
  [
    'annotations that are text',
    ['annotations: a'],
    '5:3 metadata.annotations: is "a"; expected a map of fields',
  ],
  [
    'a label that is a number',
    ['labels:', '  team: vision', '  version: 1.10'],
    '7:5 metadata.labels.version: is 1.10; a label must be text: write "1.10"',
  ],
  [
    'a label that is a flag',
    ['labels: {canary: true}'],
    '5:12 metadata.labels.canary: is true; a label must be text: write "true"',
  ],
  [
    'a label without a value',
    ['labels:', '  team:'],
    '6:5 metadata.labels.team: is null; a label must be text: write "" for an empty one',
  ],
  [
    'a label with several values',
    ['labels: {team: [a, b]}'],
    '5:12 metadata.labels.team: is ["a","b"]; a label must be text, such as "vision"',
  ],
  [
    'an annotation that is a number',
    ['annotations:', '  revision: 3'],
    '6:5 metadata.annotations.revision: is 3; an annotation must be text: write "3"',
  ],
  [
    'an annotation without a value',
    ['annotations: {note: }'],
    '5:17 metadata.annotations.note: is null; an annotation must be text: write "" for an empty one',
  ],
  [
    'a label without a name',
    ['labels: {"": a}'],
    '5:12 metadata.labels[""]: has no name; an AWS tag needs a name of 1 to 128 characters',
  ],
  [
    'a label with a long name',
    [`labels: {${'k'.repeat(129)}: a}`],
    `5:12 metadata.labels.${'k'.repeat(129)}: has a name of 129 characters; an AWS tag's name has at most 128: shorten it by 1`,
  ],
  [
    'a label with a reserved name',
    ['labels: {AWS:team: a}'],
    '5:12 metadata.labels["AWS:team"]: has a name that begins with "AWS:"; AWS reserves this prefix: choose another name',
  ],
  [
    'a label with other characters in its name',
    ['labels: {"team,unit!": a}'],
    `5:12 metadata.labels["team,unit!"]: has "," and "!" in its name; an AWS tag may contain ${TAG_CHARACTERS}`,
  ],
  [
    'a label with a long value',
    [`labels: {team: ${'v'.repeat(300)}}`],
    '5:12 metadata.labels.team: has 300 characters; the value of an AWS tag has at most 256: shorten it by 44',
  ],
  [
    'a label with a reserved value',
    ['labels: {team: "aws:vision"}'],
    '5:12 metadata.labels.team: is "aws:vision", which begins with "aws:"; AWS reserves this prefix: choose another value',
  ],
  [
    'a label with other characters in its value',
    ['labels: {team: "vision, audio\\n"}'],
    `5:12 metadata.labels.team: is "vision, audio\\n", with "," and "\\n"; an AWS tag may contain ${TAG_CHARACTERS}`,
  ],
  [
    'two labels that differ in case only',
    ['labels:', '  Team: a', '  team: b'],
    '7:5 metadata.labels.team: has the same name as "Team" except for case, which tags of an IAM role ignore; keep one',
  ],
  [
    'several mistakes at once',
    ['labels: {a: 1, "b,": c}', 'annotations: {d: true}'],
    '5:12 metadata.labels.a: is 1; a label must be text: write "1"',
    `5:18 metadata.labels["b,"]: has "," in its name; an AWS tag may contain ${TAG_CHARACTERS}`,
    '6:17 metadata.annotations.d: is true; an annotation must be text: write "true"',
  ],
];

describe('a mistake', () => {
  it.each(MISTAKES)('%s', (_what, lines, ...mistakes) => {
    expect(mistakesIn({ 'score.yaml': withMetadata(...lines) })).toEqual(
      mistakes.map((mistake) => `score.yaml:${mistake}`),
    );
  });
});
