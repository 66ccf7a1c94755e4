import { describe, expect, it } from 'vitest';
import { actorText, mistakesIn, python, type Texts } from './a-mesh.ts';

/** Lines of the spec of `score` from line 7 on, and the reported mistake. The mesh also has the actor `store`. */
const SPEC_MISTAKES: readonly (readonly [what: string, spec: readonly string[], line: string])[] = [
  [
    'an unknown field',
    ['resilency: {}'],
    '7:3 spec.resilency: is not a known field; did you mean "resiliency"?',
  ],
  [
    'an unknown nested field',
    ['scaling:', '  maxReplica: 3'],
    '8:5 spec.scaling.maxReplica: is not a known field; did you mean "maxReplicas"?',
  ],
  [
    'an unknown field of resiliency',
    ['resiliency: {actorTimout: 3s}'],
    '7:16 spec.resiliency.actorTimout: is not a known field; did you mean "actorTimeout"?',
  ],
  [
    'an invalid duration',
    ['resiliency:', '  actorTimeout: 5 minutes'],
    '8:5 spec.resiliency.actorTimeout: is "5 minutes"; expected a duration such as "300ms", "1.5s", "5m" or "1h30m"; did you mean "5m"?',
  ],
  [
    'a number for a duration',
    ['resiliency:', '  actorTimeout: 30'],
    '8:5 spec.resiliency.actorTimeout: is 30; expected a duration such as "300ms", "1.5s", "5m" or "1h30m"; did you mean "30s"?',
  ],
  [
    'an invalid duration without a suggestion',
    ['resiliency:', '  actorTimeout: soon'],
    '8:5 spec.resiliency.actorTimeout: is "soon"; expected a duration such as "300ms", "1.5s", "5m" or "1h30m"',
  ],
  [
    'a timeout of 0',
    ['resiliency: {actorTimeout: 0s}'],
    '7:16 spec.resiliency.actorTimeout: is "0s"; expected a duration above 0 and below 12h, the maximum visibility timeout of SQS',
  ],
  [
    'a timeout over the longest visibility timeout of SQS',
    ['resiliency: {actorTimeout: 12h}'],
    '7:16 spec.resiliency.actorTimeout: is "12h"; expected a duration above 0 and below 12h, the maximum visibility timeout of SQS',
  ],
  [
    'a visibility timeout below the actor timeout',
    ['resiliency:', '  actorTimeout: 1m', '  visibilityTimeout: 60s'],
    '9:5 spec.resiliency.visibilityTimeout: is "60s"; it must be longer than the actorTimeout (1m), or the broker redelivers messages that are still being processed; try "120s"',
  ],
  [
    'a visibility timeout below an actor timeout of over 6 h',
    ['resiliency: {visibilityTimeout: 8h, actorTimeout: 8h}'],
    '7:16 spec.resiliency.visibilityTimeout: is "8h"; it must be longer than the actorTimeout (8h), or the broker redelivers messages that are still being processed; try "43200s"',
  ],
  [
    'a visibility timeout below the default actor timeout',
    ['resiliency: {visibilityTimeout: 2m}'],
    '7:16 spec.resiliency.visibilityTimeout: is "2m"; it must be longer than the actorTimeout (5m), or the broker redelivers messages that are still being processed; try "600s"',
  ],
  [
    'a visibility timeout with fractions of a second',
    ['resiliency: {visibilityTimeout: 1500ms, actorTimeout: 1s}'],
    '7:16 spec.resiliency.visibilityTimeout: is "1500ms"; expected whole seconds, "1s" to "43200s"',
  ],
  [
    'a mistake in a policy',
    ['resiliency:', '  policies:', '    default:', '      initialDelay: 1sec'],
    '10:9 spec.resiliency.policies.default.initialDelay: is "1sec"; expected a duration such as "300ms", "1.5s", "5m" or "1h30m"',
  ],
  [
    'an unknown backoff in a policy',
    ['resiliency:', '  policies:', '    default: {backoff: exponental}'],
    '9:17 spec.resiliency.policies.default.backoff: is "exponental"; expected one of constant, fixed, linear, exponential, schedule; did you mean "exponential"?',
  ],
  [
    'a rule with an unknown policy',
    ['resiliency:', '  policies: {slow: {}}', '  rules:', '    - errors: [ValueError]', '      policy: slwo'],
    `11:9 spec.resiliency.rules[0].policy: is "slwo"; expected the name of a policy; did you mean "slow"?`,
  ],
  [
    'an invalid error pattern in a rule',
    ['resiliency:', '  rules:', '    - {errors: [A, "http:5x"], policy: noRetry}'],
    '9:22 spec.resiliency.rules[0].errors[1]: is "http:5x"; expected an error name such as "ValueError", "http:503" or "http:5xx"; did you mean "http:5xx"?',
  ],
  [
    'policies that are a list',
    ['resiliency: {policies: []}'],
    '7:16 spec.resiliency.policies: is []; expected an object of policies like {"default":{"maxAttempts":3}}',
  ],
  [
    'resiliency that is text',
    ['resiliency: high'],
    '7:3 spec.resiliency: is "high"; expected a map of fields',
  ],
  ['an empty field', ['resiliency:'], '7:3 spec.resiliency: is null; expected a map of fields'],
  [
    'onExhausted with an unknown actor',
    ['resiliency:', '  policies:', '    default:', '      onExhausted: [store, stroe]'],
    '10:30 spec.resiliency.policies.default.onExhausted[1]: is "stroe", which is not an actor of this mesh; did you mean "store"?',
  ],
  [
    'onExhausted with an actor of the crew',
    ['resiliency: {policies: {default: {onExhausted: [x-sink]}}}'],
    '7:51 spec.resiliency.policies.default.onExhausted[0]: is "x-sink"; expected an actor name such as "recover"; names that start with "x-" are reserved for the mesh',
  ],
  [
    'onError with an unknown actor',
    ['resiliency: {onError: stor}'],
    '7:16 spec.resiliency.onError: is "stor", which is not an actor of this mesh; did you mean "store"?',
  ],
  [
    'onError with an actor of the crew',
    ['resiliency: {onError: x-sump}'],
    `7:16 spec.resiliency.onError: is "x-sump"; a route cannot contain a crew actor, whose name starts with "x-"`,
  ],
  [
    'onError with the actor itself',
    ['resiliency: {onError: score}'],
    '7:16 spec.resiliency.onError: is "score", which is this actor: its failures would come back to it; expected another actor',
  ],
  [
    'onError as a list',
    ['resiliency: {onError: [store]}'],
    `7:16 spec.resiliency.onError: is ["store"]; expected the name of an actor`,
  ],
  [
    'next with an unknown actor',
    ['next:', '- store', '- Store'],
    '9:5 spec.next[1]: is "Store", which is not an actor of this mesh; did you mean "store"?',
  ],
  [
    'next that is not a list',
    ['next: store'],
    '7:3 spec.next: is "store"; expected a list ([] for an empty one)',
  ],
  ['next with a number', ['next: [1]'], `7:10 spec.next[0]: is 1; expected the name of an actor`],
  [
    'too few replicas',
    ['scaling: {maxReplicas: 0}'],
    '7:13 spec.scaling.maxReplicas: is 0; expected a whole number from 1 to 1000',
  ],
  [
    'a fraction of a replica',
    ['scaling: {maxReplicas: 1.5}'],
    '7:13 spec.scaling.maxReplicas: is 1.5; expected a whole number from 1 to 1000',
  ],
  [
    'a number in quotes',
    ['scaling: {concurrency: "2"}'],
    '7:13 spec.scaling.concurrency: is "2"; expected a whole number from 1 to 1000',
  ],
  [
    'a large batch without a window',
    ['scaling: {batchSize: 11}'],
    '7:13 spec.scaling.batchSize: is 11; more than 10 needs a batchWindow of "1s" or more',
  ],
  [
    'a window without a unit',
    ['scaling: {batchWindow: 1}'],
    '7:13 spec.scaling.batchWindow: is 1; expected whole seconds, "0s" to "300s"; did you mean "1s"?',
  ],
  [
    'a window that is too long',
    ['scaling: {batchWindow: 6m}'],
    '7:13 spec.scaling.batchWindow: is "6m"; expected whole seconds, "0s" to "300s"',
  ],
  [
    'memory in an unknown unit',
    ['memory: 512MB'],
    '7:3 spec.memory: is "512MB"; expected text such as "512Mi" or "1Gi", or a number of MB, from 128 to 10240; did you mean "512Mi"?',
  ],
  [
    'too little memory',
    ['memory: 64Mi'],
    '7:3 spec.memory: is "64Mi"; expected text such as "512Mi" or "1Gi", or a number of MB, from 128 to 10240',
  ],
  [
    'a reserved variable',
    ['environment:', '  MODEL: a', '  ASYA_LOG_LEVEL: debug'],
    '9:5 spec.environment.ASYA_LOG_LEVEL: is reserved: variables that start with ASYA_ are set by the mesh',
  ],
  [
    'an invalid variable name',
    ['environment: {2nd: a}'],
    '7:17 spec.environment.2nd: is not a valid variable name; expected a letter, then letters, digits and "_"',
  ],
  [
    'a variable with a list',
    ['environment: {LIST: [1]}'],
    '7:17 spec.environment.LIST: is [1]; expected text, a number, true or false; use "" for an empty value',
  ],
  [
    'a variable without a value',
    ['environment:', '  MODEL:'],
    '8:5 spec.environment.MODEL: is null; expected text, a number, true or false; use "" for an empty value',
  ],
  [
    'a variable with a credential',
    ['environment: {AWS_PROFILE: a}'],
    "7:17 spec.environment.AWS_PROFILE: is reserved: handlers do not receive variables with a cloud provider's credentials",
  ],
  [
    'a value in the place of a reference',
    ['secrets:', '  KEY: sk-123'],
    '8:5 spec.secrets.KEY: is text; expected a reference such as {secretsManager: my/openai, key: api_key} or {ssm: /my/openai}; use environment for a value that is not secret',
  ],
  [
    'a reserved variable among the secrets',
    ['secrets: {ASYA_GATEWAY_SECRET: {ssm: /a}}'],
    '7:13 spec.secrets.ASYA_GATEWAY_SECRET: is reserved: variables that start with ASYA_ are set by the mesh',
  ],
  [
    'a credential among the secrets',
    ['secrets: {AWS_SECRET_ACCESS_KEY: {ssm: /a}}'],
    "7:13 spec.secrets.AWS_SECRET_ACCESS_KEY: is reserved: handlers do not receive variables with a cloud provider's credentials",
  ],
  [
    'a secret that is also in the environment',
    ['environment: {KEY: a}', 'secrets: {KEY: {ssm: /a}}'],
    '8:13 spec.secrets.KEY: is also in spec.environment; keep one of them',
  ],
  [
    'an unknown store of secrets',
    ['secrets:', '  KEY: {secretManager: a}'],
    '8:11 spec.secrets.KEY.secretManager: is not a known field; did you mean "secretsManager"?',
  ],
  [
    'a secret without a store',
    ['secrets:', '  KEY: {key: a}'],
    '8:5 spec.secrets.KEY: has neither secretsManager nor ssm; expected {secretsManager: my/openai, key: api_key} or {ssm: /my/openai}',
  ],
  [
    'two stores of one secret',
    ['secrets:', '  KEY: {secretsManager: a, ssm: /a}'],
    '8:5 spec.secrets.KEY: has both secretsManager and ssm; keep one of them',
  ],
  [
    'a secret name with a wildcard',
    ['secrets:', '  KEY: {secretsManager: my/*}'],
    '8:11 spec.secrets.KEY.secretsManager: is "my/*"; expected the name of a secret, up to 512 letters, digits and "/_+=.@-", such as "my/openai", or its complete ARN',
  ],
  [
    'the ARN of a secret without its last six characters',
    ['secrets:', '  KEY: {secretsManager: "arn:aws:secretsmanager:eu-west-1:111122223333:secret:my/ai"}'],
    '8:11 spec.secrets.KEY.secretsManager: is "arn:aws:secretsmanager:eu-west-1:111122223333:secret:my/ai"; expected the name of a secret, up to 512 letters, digits and "/_+=.@-", such as "my/openai", or its complete ARN',
  ],
  [
    'an empty key of a secret',
    ['secrets:', '  KEY: {secretsManager: a, key: ""}'],
    '8:30 spec.secrets.KEY.key: is ""; expected a key of the secret\'s JSON object, such as "api_key"',
  ],
  [
    'a parameter path without a leading slash',
    ['secrets:', '  KEY: {ssm: my/openai}'],
    '8:11 spec.secrets.KEY.ssm: is "my/openai"; expected the name of a parameter, letters, digits and "_.-", with a leading "/" if it is a path, such as "/my/openai", or its ARN, without a version or label; did you mean "/my/openai"?',
  ],
  [
    'a key of a parameter',
    ['secrets:', '  KEY: {ssm: /a, key: b}'],
    '8:20 spec.secrets.KEY.key: cannot be used with ssm, whose parameters have one value; use a parameter for each value',
  ],
  [
    'a KMS alias',
    ['secrets:', '  KEY: {ssm: /a, kmsKey: alias/a}'],
    '8:20 spec.secrets.KEY.kmsKey: is "alias/a"; expected the ARN of a key, not of an alias, such as "arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"',
  ],
  [
    'two runtimes, one of them in `runtime`',
    ['runtime: python', 'image: a'],
    '8:3 spec.image: cannot be used with runtime "python", which takes handler; keep one of them',
  ],
  [
    'two runtimes',
    ['url: http://a/'],
    '6:3 spec.handler: is set together with url; an actor has one runtime, so keep one of them',
  ],
  [
    'an unknown runtime',
    ['runtime: pyton'],
    '7:3 spec.runtime: is "pyton"; expected one of node, python, image, url; did you mean "python"?',
  ],
  [
    'a handler of another language',
    ['runtime: node'],
    '6:3 spec.handler: is "module.handle"; a handler for node is FILE.FUNCTION, like "score.ts.score"; or did you mean runtime "python"?',
  ],
];

/** Whole specs. Their first line is line 6. */
const RUNTIME_MISTAKES: readonly (readonly [spec: string, line: string])[] = [
  [
    '{}',
    '5:1 spec.handler: is missing; expected a function ("score.ts.score" for Node or "score.score" for Python), an image or a url',
  ],
  [
    '{runtime: url}',
    '5:1 spec.url: is missing; runtime "url" needs one, such as "http://127.0.0.1:8080/invoke"',
  ],
  [
    '{runtime: image}',
    '5:1 spec.image: is missing; runtime "image" needs one, such as "registry.example/score:1"',
  ],
  [
    '{runtime: node}',
    '5:1 spec.handler: is missing; runtime "node" needs one, such as "score.ts.score" for Node or "score.score" for Python',
  ],
  [
    '{url: "http://a/", secrets: {KEY: {ssm: /a}}}',
    '6:22 spec.secrets: cannot be used with a url: the sidecar passes secrets only to a runtime that it starts',
  ],
  [
    '{handler: score.ts}',
    '6:4 spec.handler: is "score.ts", a file; a handler is FILE.FUNCTION or module.function, like "score.ts.score" for Node or "score.score" for Python',
  ],
  [
    '{handler: src/score.py.score}',
    '6:4 spec.handler: is "src/score.py.score"; a handler is FILE.FUNCTION or module.function, like "score.ts.score" for Node or "score.score" for Python; did you mean "src.score.score"?',
  ],
  ...[
    ['score.ts:score', 'score.ts.score'],
    ['src/score.ts#Scorer.score', 'src/score.ts.Scorer.score'],
    ['score.ts.score()', 'score.ts.score'],
    ['score:score', 'score.score'],
    ['src/score.py:score', 'src.score.score'],
  ].map(
    ([typed, meant]) =>
      [
        `{handler: "${typed}"}`,
        `6:4 spec.handler: is "${typed}"; a handler is FILE.FUNCTION or module.function, like "score.ts.score" for Node or "score.score" for Python; did you mean "${meant}"?`,
      ] as const,
  ),
  [
    '{runtime: python, handler: score.py}',
    '6:21 spec.handler: is "score.py", a file; a handler for python is module.function, like "score.score"',
  ],
  [
    '{runtime: python, handler: score.py.score}',
    '6:21 spec.handler: is "score.py.score"; a handler for python is module.function, like "score.score"; did you mean "score.score"?',
  ],
  ['{handler: 5}', '6:4 spec.handler: is 5; expected text'],
  ['{handler: ""}', '6:4 spec.handler: is ""; expected text'],
  [
    '{handler: /tmp/score.ts.score}',
    '6:4 spec.handler: is "/tmp/score.ts.score"; the path of its file is relative to the folder of this document, without a leading "/"',
  ],
  [
    '{image: a, url: "http://a/"}',
    '6:14 spec.url: is set together with image; an actor has one runtime, so keep one of them',
  ],
  ['{image: a b}', '6:4 spec.image: is "a b"; expected an image like "registry.example/score:1"'],
  [
    '{url: "ftp://me:secret@a/"}',
    '6:4 spec.url: is "ftp://***@a/"; expected a URL like "http://127.0.0.1:8080/invoke"',
  ],
];

describe('a mistake in an actor is reported once, with its place', () => {
  it.each(SPEC_MISTAKES)('%s', (_what, spec, line) => {
    expect(mistakesIn({ 'store.yaml': python('store'), 'score.yaml': python('score', ...spec) })).toEqual([
      `score.yaml:${line}`,
    ]);
  });

  it.each(RUNTIME_MISTAKES)('%s', (spec, line) => {
    expect(mistakesIn({ 'score.yaml': actorText('score', spec) })).toEqual([`score.yaml:${line}`]);
  });
});

/** Whole documents. The mesh also has the actor `store`. */
const DOCUMENT_MISTAKES: readonly (readonly [what: string, text: string, ...lines: readonly string[]])[] = [
  [
    'an unknown kind',
    python('score').replace('AsyncActor', 'AsynActor'),
    '2:1 kind: is "AsynActor"; expected "AsyncActor"',
  ],
  [
    'no kind',
    python('score').replace('kind: AsyncActor', '#'),
    '1:1 kind: is missing; expected "AsyncActor"',
  ],
  [
    'another version',
    python('score').replace('v1alpha1', 'v2'),
    '1:1 apiVersion: is "asya.sh/v2"; expected "asya.sh/v1alpha1"',
  ],
  [
    'an unknown field at the top level',
    `${python('score')}status: {}\n`,
    '7:1 status: is not a known field; the known fields are apiVersion, kind, metadata, spec',
  ],
  [
    'an unknown field of metadata',
    python('score').replace('{name', '{nmae: a, name'),
    '3:12 metadata.nmae: is not a known field; did you mean "name"?',
  ],
  [
    'no name',
    python('score').replace('metadata: {name: score}', '#'),
    '1:1 metadata.name: is missing; an actor\'s name is 1 to 63 characters of a-z, 0-9 and "-", with no "-" at either end',
  ],
  [
    'a name that is not a DNS label',
    python('scoreImage'),
    '3:12 metadata.name: is "scoreImage"; an actor\'s name is 1 to 63 characters of a-z, 0-9 and "-", with no "-" at either end; did you mean "score-image"?',
  ],
  [
    'a name that is too long',
    python('a'.repeat(64)),
    `3:12 metadata.name: is "${'a'.repeat(64)}"; an actor's name is 1 to 63 characters of a-z, 0-9 and "-", with no "-" at either end`,
  ],
  [
    'a reserved name',
    python('x-score'),
    '3:12 metadata.name: is "x-score"; names that start with "x-" are reserved for the mesh',
  ],
  [
    'an invalid name in the spec',
    python('score', 'actor: Score'),
    '7:3 spec.actor: is "Score"; an actor\'s name is 1 to 63 characters of a-z, 0-9 and "-", with no "-" at either end; did you mean "score"?',
  ],
  [
    'no spec',
    python('score').split('\n').slice(0, 4).join('\n'),
    '1:1 spec: is missing; expected a map of fields',
  ],
  ['only text', 'kind:AsyncActor', '1:1: is "kind:AsyncActor"; expected a document of kind "AsyncActor"'],
  [
    'flows in another file',
    'flows:\n- {name: f, entrypoint: store}\n',
    '1:1 flows: is in "score.yaml"; flows are read from flows.yaml',
  ],
];

describe('a mistake in a document', () => {
  it.each(DOCUMENT_MISTAKES)('%s', (_what, text, ...lines) => {
    const texts = { 'store.yaml': python('store', 'next: [store]'), 'score.yaml': text };
    expect(mistakesIn(texts)).toEqual(lines.map((line) => `score.yaml:${line}`));
  });

  it('does not cause further mistakes at references to the actor', () => {
    for (const wrong of [
      /AsyncActor/,
      /kind: AsyncActor/,
      /v1alpha1/,
      /module.handle/,
      /metadata/,
      /\{name/,
    ]) {
      const text = python('score').replace(wrong, '{');
      const lines = mistakesIn({ 'score.yaml': text, 'store.yaml': python('store', 'next: [score]') });
      expect(lines).not.toEqual([]);
      expect(lines.filter((line) => line.startsWith('store.yaml'))).toEqual([]);
    }
    expect(mistakesIn({ 'a.yaml': python('Score'), 'store.yaml': python('store', 'next: [score]') })).toEqual(
      [expect.stringMatching(/^a\.yaml:3:12 metadata\.name/)],
    );
    expect(
      mistakesIn({ 'a.yaml': 'kind: [AsyncActor', 'store.yaml': python('store', 'next: [score]') }),
    ).toEqual([expect.stringMatching(/^a\.yaml:1:/)]);
  });
});

describe('a duplicate name', () => {
  it('is reported with both places: actors', () => {
    expect(
      mistakesIn({ 'a.yaml': `${python('one')}---\n${python('two')}`, 'b.yaml': python('b', 'actor: two') }),
    ).toEqual([
      'b.yaml:7:3 spec.actor: is "two", which is already used at a.yaml:10:12 metadata.name; actor names must be unique',
    ]);
  });

  it('is reported with both places: flows', () => {
    const flows = 'flows:\n- {name: f, entrypoint: one}\n- {name: f, entrypoint: one}\n';
    expect(mistakesIn({ 'a.yaml': python('one'), 'flows.yaml': flows })).toEqual([
      'flows.yaml:3:4 flows[1].name: is "f", which is already used at flows.yaml:2:4 flows[0].name; flow names must be unique',
    ]);
  });
});

/** The fields of a flow from line 3 on. */
const FLOW_MISTAKES: readonly (readonly [what: string, flow: readonly string[], line: string])[] = [
  [
    'an entrypoint with an unknown actor',
    ['entrypoint: scor'],
    '3:3 flows[0].entrypoint: is "scor", which is not an actor of this mesh; did you mean "score"?',
  ],
  ['no entrypoint', [], '2:3 flows[0].entrypoint: is missing; expected the name of an actor'],
  [
    'an entrypoint with an actor of the crew',
    ['entrypoint: x-sink'],
    `3:3 flows[0].entrypoint: is "x-sink"; a route cannot contain a crew actor, whose name starts with "x-"`,
  ],
  [
    'route_next with an unknown actor',
    ['entrypoint: score', 'route_next:', '- store', '- stroe'],
    '6:5 flows[0].route_next[1]: is "stroe", which is not an actor of this mesh; did you mean "store"?',
  ],
  [
    'route_next that is not a list',
    ['entrypoint: score', 'route_next: store'],
    '4:3 flows[0].route_next: is "store"; expected a list ([] for an empty one)',
  ],
  [
    'an unknown field',
    ['entrypoint: score', 'routeNext: []'],
    '4:3 flows[0].routeNext: is not a known field; did you mean "route_next"?',
  ],
  [
    'a timeout as a duration',
    ['entrypoint: score', 'timeout: 6m'],
    '4:3 flows[0].timeout: is "6m"; expected a whole number of seconds, 2 or more, such as 360; did you mean 360?',
  ],
  [
    'a timeout as a duration of one second, which is not suggested',
    ['entrypoint: score', 'timeout: 1s'],
    '4:3 flows[0].timeout: is "1s"; expected a whole number of seconds, 2 or more, such as 360; did you mean 2?',
  ],
  [
    'a timeout with a fraction of a second',
    ['entrypoint: score', 'timeout: 1.5'],
    '4:3 flows[0].timeout: is 1.5; expected a whole number of seconds, 2 or more, such as 360',
  ],
  [
    'a timeout of one second, which no envelope can meet',
    ['entrypoint: score', 'timeout: 1'],
    '4:3 flows[0].timeout: is 1; such a flow can never succeed, because an actor is not called with less than 1 s left; use at least 2',
  ],
  [
    'a timeout of 0 seconds',
    ['entrypoint: score', 'timeout: 0'],
    '4:3 flows[0].timeout: is 0; expected a whole number of seconds, 2 or more, such as 360',
  ],
  [
    'an infinite timeout',
    ['entrypoint: score', 'timeout: .inf'],
    '4:3 flows[0].timeout: is Infinity; expected a whole number of seconds, 2 or more, such as 360',
  ],
  [
    'a description that is not text',
    ['entrypoint: score', 'description: [a]'],
    '4:3 flows[0].description: is ["a"]; expected text',
  ],
  [
    'an invalid schema',
    ['entrypoint: score', 'timeout: 900', 'mcp:', '  inputSchema: [object]'],
    '6:5 flows[0].mcp.inputSchema: is ["object"]; expected a JSON Schema like {type: object, properties: {...}}',
  ],
  [
    'a tool without a schema',
    ['entrypoint: score', 'mcp: {}'],
    '4:3 flows[0].mcp.inputSchema: is missing; expected a JSON Schema like {type: object, properties: {...}}',
  ],
  [
    'a schema of an array',
    ['entrypoint: score', 'timeout: 900', 'mcp: {inputSchema: {type: array}}'],
    '5:23 flows[0].mcp.inputSchema.type: is "array"; the input of a tool must be an "object"',
  ],
  [
    'an unknown field of mcp',
    ['entrypoint: score', 'timeout: 900', 'mcp: {inputSchema: {}, schema: 1}'],
    '5:26 flows[0].mcp.schema: is not a known field; did you mean "inputSchema"?',
  ],
  [
    'a2a as a flag',
    ['entrypoint: score', 'a2a: true'],
    '4:3 flows[0].a2a: is true; expected a map of fields',
  ],
];

describe('a mistake in flows.yaml', () => {
  const ACTORS: Texts = { 'score.yaml': python('score'), 'store.yaml': python('store') };

  it.each(FLOW_MISTAKES)('%s', (_what, flow, line) => {
    const text = ['flows:', '- name: f', ...flow.map((field) => `  ${field}`)].join('\n');
    expect(mistakesIn({ ...ACTORS, 'flows.yaml': text })).toEqual([`flows.yaml:${line}`]);
  });

  it.each([
    ['[]', '1:1: is []; expected "flows:" with a list'],
    ['flow: []', '1:1 flow: is not a known field; did you mean "flows"?'],
    ['flows:', '1:1 flows: is null; expected a list ([] for an empty one)'],
    ['flows: [a]', '1:9 flows[0]: is "a"; expected a map of fields'],
    [
      'flows: [{name: My Flow, entrypoint: score}]',
      '1:10 flows[0].name: is "My Flow"; a flow\'s name is 1 to 63 characters of a-z, 0-9 and "-", with no "-" at either end; did you mean "my-flow"?',
    ],
  ])('%s', (text, line) => {
    expect(mistakesIn({ ...ACTORS, 'flows.yaml': text })[0]).toBe(`flows.yaml:${line}`);
  });
});

describe('all mistakes at once', () => {
  it('are ordered by file and line', () => {
    const lines = mistakesIn({
      'a.yaml': `${python('a', 'memory: much', 'nxt: []')}---\n${python('b', 'next: [c]')}`,
      'broken.yaml': `${python('x')}\n\tbad`,
      'flows.yaml': 'flows: [{name: f, entrypoint: d}]',
      'z.yaml': 'kind: AsyncActors',
    });
    expect(lines.map((line) => line.split(' ')[0])).toEqual([
      'a.yaml:7:3',
      'a.yaml:8:3',
      'broken.yaml:8:1:',
      'z.yaml:1:1',
      'z.yaml:1:1',
    ]);
    expect(
      mistakesIn({ 'a.yaml': python('a', 'next: [c]'), 'flows.yaml': 'flows: [{name: f, entrypoint: d}]' }),
    ).toHaveLength(2);
  });
});
