import { describe, expect, it } from 'vitest';
import { readManifest } from '../../../lib/config/manifest/read-manifest.ts';
import { NO_RESILIENCY } from '../../../lib/core/policy/policy.ts';
import { resiliencyOf } from '../../core/a-delivery.ts';
import { actorOf, actorText, filesOf, manifestOf, mistakesIn, python } from './a-mesh.ts';

describe('an actor', () => {
  it('has defaults for everything but its handler', () => {
    expect(manifestOf({ 'score.yaml': python('score') })).toEqual({
      actors: [
        {
          name: 'score',
          file: 'score.yaml',
          labels: {},
          runtime: { kind: 'python', handler: 'module.handle' },
          timeoutMs: 300_000,
          resiliency: NO_RESILIENCY,
          scaling: { maxReplicas: 10, batchSize: 1, batchWindowSeconds: 0, concurrency: 1 },
          memoryMb: 512,
          environment: {},
          next: [],
        },
      ],
      flows: [],
    });
  });

  it('reads every field', () => {
    const text = `
apiVersion: asya.sh/v1alpha1
kind: AsyncActor
metadata:
  name: score-in-production
  namespace: production
  labels: {team: search}
  annotations: {note: "anything"}
spec:
  actor: score
  runtime: node
  handler: ./score.ts.Scorer.score
  resiliency:
    actorTimeout: 1m30s
    visibilityTimeout: 4m
    policies:
      default: {maxAttempts: 3, initialDelay: 1s}
      review: {maxAttempts: 2, onExhausted: [review]}
    rules:
      - {errors: [LowConfidence, "http:5xx"], policy: review}
      - {errors: [ValueError], policy: noRetry}
  scaling: {maxReplicas: 20, batchSize: 100, batchWindow: 2s, concurrency: 4}
  memory: 1Gi
  environment: {MODEL: small, THRESHOLD: 0.50}
  next: [review]
`;
    const { actors } = manifestOf({ 'score/actor.yaml': text, 'review.yaml': python('review') });
    expect(actors[0]).toEqual({
      name: 'score',
      file: 'score/actor.yaml',
      labels: { team: 'search' },
      runtime: { kind: 'node', handler: './score.ts.Scorer.score' },
      timeoutMs: 90_000,
      visibilitySeconds: 240,
      resiliency: resiliencyOf(
        {
          default: { maxAttempts: 3, initialDelay: '1s' },
          review: { maxAttempts: 2, onExhausted: ['review'] },
        },
        [
          { errors: ['LowConfidence', 'http:5xx'], policy: 'review' },
          { errors: ['ValueError'], policy: 'noRetry' },
        ],
      ),
      scaling: { maxReplicas: 20, batchSize: 100, batchWindowSeconds: 2, concurrency: 4 },
      memoryMb: 1024,
      environment: { MODEL: 'small', THRESHOLD: '0.50' },
      next: ['review'],
    });
  });

  it.each([
    ['handler: score.ts.score', { kind: 'node', handler: 'score.ts.score' }],
    ['handler: lib/score.mjs.default', { kind: 'node', handler: 'lib/score.mjs.default' }],
    ['handler: ../score.cjs.$it', { kind: 'node', handler: '../score.cjs.$it' }],
    ['handler: score.score', { kind: 'python', handler: 'score.score' }],
    ['handler: package.score.Scorer.score', { kind: 'python', handler: 'package.score.Scorer.score' }],
    ['{runtime: python, handler: score.ts.score}', { kind: 'python', handler: 'score.ts.score' }],
    ['image: registry.example/score:1', { kind: 'image', image: 'registry.example/score:1' }],
    ['{image: a, handler: any thing}', { kind: 'image', image: 'a', handler: 'any thing' }],
    ['{runtime: url, url: "https://a.example/x"}', { kind: 'url', url: 'https://a.example/x' }],
    ['url: http://127.0.0.1:8080/invoke', { kind: 'url', url: 'http://127.0.0.1:8080/invoke' }],
  ])('has the runtime of %s', (spec, runtime) => {
    expect(manifestOf({ 'a.yaml': actorText('score', spec) }).actors[0]?.runtime).toEqual(runtime);
  });

  it.each([
    ['128', 128],
    ['10240', 10_240],
    ['512Mi', 512],
    ['1Gi', 1024],
    ['1.5Gi', 1536],
  ])('accepts %s of memory', (text, memoryMb) => {
    expect(actorOf(`memory: ${text}`).memoryMb).toBe(memoryMb);
  });

  it('keeps where the value of a secret is, and its line', () => {
    expect(
      actorOf(
        'secrets:',
        '  OPENAI_API_KEY: {secretsManager: my/openai, key: api_key}',
        '  WHOLE: {secretsManager: "arn:aws:secretsmanager:eu-west-1:111122223333:secret:my/whole-AbCdEf"}',
        '  DATABASE_URL:',
        '    ssm: /my/database',
        '    kmsKey: arn:aws:kms:eu-west-1:111122223333:key/1234abcd',
      ).secrets,
    ).toEqual({
      OPENAI_API_KEY: { reference: { secretsManager: 'my/openai', key: 'api_key' }, line: 8 },
      WHOLE: {
        reference: {
          secretsManager: 'arn:aws:secretsmanager:eu-west-1:111122223333:secret:my/whole-AbCdEf',
        },
        line: 9,
      },
      DATABASE_URL: {
        reference: { ssm: '/my/database' },
        kmsKey: 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd',
        line: 10,
      },
    });
  });

  it('keeps the text of environment variables as written', () => {
    expect(
      actorOf(
        'environment:',
        '  TEXT: some words',
        '  EMPTY: ""',
        '  VERSION: 1.10',
        '  LONG: 12345678901234567890',
        '  OCTAL: 007',
        '  FLAG: True',
        '  SWITCH: on',
        '  ANSWER: no',
      ).environment,
    ).toEqual({
      TEXT: 'some words',
      EMPTY: '',
      VERSION: '1.10',
      LONG: '12345678901234567890',
      OCTAL: '007',
      FLAG: 'True',
      SWITCH: 'on',
      ANSWER: 'no',
    });
  });

  it('accepts an empty next', () => {
    expect(actorOf('next: []').next).toEqual([]);
    expect(actorOf().next).toEqual([]);
  });

  it('accepts the limits of visibility and timeout', () => {
    expect(actorOf('resiliency: {actorTimeout: 30s, visibilityTimeout: 31s}').visibilitySeconds).toBe(31);
    expect(actorOf('resiliency: {actorTimeout: 11h59m59s999ms}').timeoutMs).toBe(43_199_999);
  });
});

describe('flows', () => {
  const TEXTS = {
    'download-image.yaml': python('download-image'),
    'enhance.yaml': [python('enhance-image'), python('upload-image')].join('---\n'),
  };

  it('are read in the format of the specification', () => {
    const flows = `
flows:
- name: image-enhance
  entrypoint: download-image
  route_next: [enhance-image, upload-image]
  description: Makes a picture sharper
  timeout: 960        # whole seconds
  mcp: {inputSchema: {type: object, properties: {url: {type: string}}, required: [url]}}
- name: plain
  entrypoint: upload-image
- {name: skill, entrypoint: upload-image, timeout: 300, a2a: {tags: [image]}}
`;
    const inputSchema = { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] };
    expect(manifestOf({ ...TEXTS, 'flows.yaml': flows }).flows).toEqual([
      {
        name: 'image-enhance',
        entrypoint: 'download-image',
        routeNext: ['enhance-image', 'upload-image'],
        description: 'Makes a picture sharper',
        timeoutSeconds: 960,
        mcp: { inputSchema },
      },
      { name: 'plain', entrypoint: 'upload-image', routeNext: [] },
      {
        name: 'skill',
        entrypoint: 'upload-image',
        routeNext: [],
        timeoutSeconds: 300,
        a2a: { tags: ['image'] },
      },
    ]);
  });

  it.each(['flows.yml', 'deeper/flows.yaml'])('are also read from %s', (path) => {
    const flows = 'flows: [{name: f, entrypoint: upload-image}]';
    expect(manifestOf({ ...TEXTS, [path]: flows }).flows).toHaveLength(1);
  });

  it.each(['flows: []', '', '# none yet'])('may be empty: %j', (text) => {
    expect(manifestOf({ ...TEXTS, 'flows.yaml': text }).flows).toEqual([]);
  });
});

describe('files', () => {
  it('may contain several documents and empty ones', () => {
    const text = `---\n# nothing\n---\n${python('one')}---\n---\n${python('two')}...\n`;
    const { actors } = manifestOf({ 'all.yml': text });
    expect(actors.map(({ name }) => name)).toEqual(['one', 'two']);
  });

  it('without an actor yield an empty manifest', () => {
    expect(manifestOf({})).toEqual({ actors: [], flows: [] });
  });

  it('may use anchors, aliases and merges', () => {
    const text = `
apiVersion: asya.sh/v1alpha1
kind: AsyncActor
metadata: {name: score}
spec:
  handler: a.b
  resiliency:
    policies:
      default: &patient {maxAttempts: 3, initialDelay: 1s}
      again: *patient
      longer:
        <<: *patient
        maxAttempts: 9
  environment:
    <<: {VERSION: 1.10}
    OTHER: 1
`;
    const [actor] = manifestOf({ 'a.yaml': text }).actors;
    expect(actor?.resiliency).toEqual(
      resiliencyOf({
        default: { maxAttempts: 3, initialDelay: '1s' },
        again: { maxAttempts: 3, initialDelay: '1s' },
        longer: { maxAttempts: 9, initialDelay: '1s' },
      }),
    );
    expect(actor?.environment).toEqual({ VERSION: '1.10', OTHER: '1' });
  });

  it('may have a byte order mark and Windows line endings', () => {
    const text = `\uFEFF${python('score', 'memory: 1Gi').replaceAll('\n', '\r\n')}`;
    expect(manifestOf({ 'a.yaml': text }).actors[0]?.memoryMb).toBe(1024);
    expect(mistakesIn({ 'a.yaml': text.replace('1Gi', 'much') })).toEqual([
      expect.stringMatching(/^a\.yaml:7:3 spec\.memory: /),
    ]);
  });
});

describe("a handler's file", () => {
  it('is checked, and reported at the line of the handler', () => {
    const texts = { 'deep/a.yaml': python('score'), 'b.yaml': actorText('web', 'url: http://a/') };
    const checked: unknown[] = [];
    const reading = readManifest(filesOf(texts), (runtime, file) => {
      checked.push([runtime.kind, file]);
      return runtime.kind === 'python' ? { problem: 'is missing', isWarning: false } : undefined;
    });
    expect(checked).toEqual([
      ['python', 'deep/a.yaml'],
      ['url', 'b.yaml'],
    ]);
    expect(reading).toMatchObject({
      mistakes: [{ place: 'deep/a.yaml:6:3 spec.handler', problem: 'is missing', line: 6, column: 3 }],
    });
  });
});
