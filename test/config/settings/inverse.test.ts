import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEnvironment } from '../../../lib/config/settings/environment.ts';
import { defaultVisibilitySeconds } from '../../../lib/config/settings/groups/sqs.ts';
import type { FullConfig } from '../../../lib/config/settings/host-config.ts';
import {
  type ReadHostConfig,
  readGatewayConfig,
  readOperatorConfig,
  readPushConfig,
  readSidecarConfig,
} from '../../../lib/config/settings/read-host-config.ts';
import type { SecretReferences } from '../../../lib/config/settings/secret-reference.ts';
import { SETTINGS } from '../../../lib/config/settings/settings.ts';
import { type WritableConfig, writeEnvironment } from '../../../lib/config/settings/write-environment.ts';
import {
  BUILT_IN_POLICIES,
  type Pattern,
  type Policy,
  type Resiliency,
} from '../../../lib/core/policy/policy.ts';
import { MAX_DURATION_MS } from '../../../lib/core/text/duration.ts';
import { mistakesText } from '../../../lib/core/text/mistake.ts';
import { configOf, fileOf, noFile } from '../an-environment.ts';

const RUNS = Number(process.env['LAW_RUNS'] ?? 500);
const seed = Number(process.env['LAW_SEED'] ?? 20_260_101);

/** Without undefined values, as the reader returns them. */
function present<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** Plain objects, as the reader creates them. */
const record = <T>(model: { [Key in keyof T]: fc.Arbitrary<T[Key]> }) =>
  fc.record(model, { noNullPrototype: true });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

/** Short, so that the queue name fits with any namespace. May contain dashes and start with a digit. */
const name = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/);
const routable = name.filter((text) => !text.startsWith('x-'));
const namespace = fc.stringMatching(/^[A-Za-z0-9]([A-Za-z0-9_-]{0,20}[A-Za-z0-9])?$/);
const trimmedText = fc.stringMatching(/^[^\s,]([^,]{0,12}[^\s,])?$/);
const milliseconds = fc.oneof(
  fc.constantFrom(0, 1, 999, 1_000, 59_999, 60_000, 3_600_000, 5_400_000, MAX_DURATION_MS),
  fc.integer({ min: 0, max: 100_000_000 }),
);
/** At least 1, because 0 is not a valid limit. */
const limit = milliseconds.map((ms) => Math.max(1, ms));
const whole = (min: number, max = 1_000_000) => fc.integer({ min, max });

/** Like `fc.webUrl`, which takes seconds to initialize. */
const url = (...schemes: string[]) =>
  fc
    .tuple(
      fc.constantFrom(...schemes),
      fc.domain(),
      fc.stringMatching(/^(\/([\w.~!$&'()*+,;=:@-]|%[0-9A-F]{2}){0,6}){0,3}$/),
    )
    .map(([scheme, domain, path]) => `${scheme}://${domain}${path}`);

const backoff: fc.Arbitrary<Policy['backoff']> = fc.oneof(
  record({ kind: fc.constantFrom('constant', 'linear', 'exponential'), initialMs: milliseconds }),
  record({
    kind: fc.constant('schedule' as const),
    delaysMs: fc.array(milliseconds, { minLength: 1, maxLength: 5 }),
  }),
);

const exhaustion: fc.Arbitrary<Policy['onExhausted']> = fc.oneof(
  fc.constant({ action: 'sink' as const }),
  record({
    action: fc.constant('route' as const),
    actors: fc.array(routable, { minLength: 1, maxLength: 4 }),
  }),
  record({
    action: fc.constant('escalate' as const),
    topic: fc.string({ minLength: 1 }).filter((topic) => !topic.startsWith('x-')),
  }),
  fc.constant({ action: 'drop' as const }),
);

const policy: fc.Arbitrary<Policy> = record({
  maxAttempts: fc.oneof(whole(1, 50), fc.constantFrom(1, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY)),
  backoff,
  maxIntervalMs: maybe(limit),
  maxDurationMs: maybe(limit),
  expireAfterMs: maybe(limit),
  jitter: fc.boolean(),
  onExhausted: exhaustion,
}).map(({ maxIntervalMs, maxDurationMs, expireAfterMs, ...rest }) => ({
  ...rest,
  exhaustedReason: 'PolicyExhausted' as const,
  ...present({ maxIntervalMs, expireAfterMs }),
  // Without a limit of attempts, a policy needs a time limit.
  ...present({
    maxDurationMs:
      rest.maxAttempts === Number.POSITIVE_INFINITY && expireAfterMs === undefined
        ? (maxDurationMs ?? 1)
        : maxDurationMs,
  }),
}));

const pattern: fc.Arbitrary<Pattern> = fc.oneof(
  fc
    .oneof(
      fc.constantFrom('ValueError', 'http', 'é', '"', '_'),
      fc.stringMatching(/^[^\s*,.\d]([^\s*,]{0,12}[^\s*,.])?$/),
    )
    .filter((text) => !/^http:/i.test(text))
    .map((text): Pattern => ({ kind: text.includes('.') ? 'full-name' : 'last-name', name: text })),
  fc.constantFrom('pkg.ValueError', 'a..b').map((text): Pattern => ({ kind: 'full-name', name: text })),
  whole(100, 599).map((status): Pattern => ({ kind: 'http-status', status })),
  whole(1, 5).map((hundreds): Pattern => ({ kind: 'http-class', hundreds })),
);

/** Names that can cause problems in JSON, objects or maps. */
const policyName = fc.oneof(
  fc.constantFrom(
    'default',
    'noRetry',
    'nonretryable',
    '__proto__',
    'constructor',
    '7',
    '',
    'a.b',
    'é"\n',
    'toString',
  ),
  fc.string(),
);

const resiliency: fc.Arbitrary<Resiliency> = fc
  .uniqueArray(fc.tuple(policyName, policy), { selector: ([key]) => key, maxLength: 4 })
  .chain((entries) => {
    const known = [...entries.map(([key]) => key), ...BUILT_IN_POLICIES.keys()];
    return record({
      policies: fc.constant(new Map(entries)),
      rules: fc.array(
        record({
          errors: fc.array(pattern, { minLength: 1, maxLength: 3 }),
          policy: fc.constantFrom(...known),
        }),
        { maxLength: 3 },
      ),
    });
  });

const address: fc.Arbitrary<FullConfig['runtime']['address']> = fc.oneof(
  fc.stringMatching(/^\/[a-z/.:]{1,20}$/).map((path) => ({ kind: 'socket' as const, path })),
  fc.constant({ kind: 'socket' as const, path: '/tmp/sockets/app.sock' }),
  fc
    .tuple(url('http', 'https'), fc.stringMatching(/^(\?([\w.~!$&'()*+,;=:@/?-]|%[0-9A-F]{2}){0,9})?$/))
    .map((parts) => ({ kind: 'http' as const, url: parts.join('') })),
  fc
    .tuple(fc.stringMatching(/^\/[a-z/.]{1,20}$/), fc.stringMatching(/^\/[a-z/.:?=]{0,20}$/))
    .map(([path, resource]) => ({ kind: 'http-over-socket' as const, path, resource })),
);

const listening: fc.Arbitrary<FullConfig['metrics']> = fc.oneof(
  fc.constant(undefined),
  fc.constant({ port: 9_090 }),
  fc
    .tuple(maybe(fc.constantFrom('127.0.0.1', 'localhost', '[::1]', '0.0.0.0')), whole(0, 65_535))
    .map(([host, port]) => ({ ...present({ host }), port })),
);

const transport: fc.Arbitrary<Pick<FullConfig, 'transport' | 'pubsub'>> = record({
  transport: fc.constantFrom('sqs', 'pubsub', 'rabbitmq'),
  projectId: maybe(trimmedText),
  endpoint: maybe(whole(1, 65_535).map((port) => `localhost:${port}`)),
  delayerTopic: fc.oneof(fc.constant('me-pubsub-delayer'), trimmedText),
}).map(({ transport: named, projectId, endpoint, delayerTopic }) => ({
  transport: named,
  pubsub: {
    ...present({ projectId: named === 'pubsub' ? (projectId ?? 'p') : projectId, endpoint }),
    delayerTopic,
  },
}));

/** The timeout, and a visibility that SQS allows for it. */
const timing = fc.oneof(fc.constant(300_000), whole(1, 43_199_999)).chain((timeoutMs) =>
  record({
    timeoutMs: fc.constant(timeoutMs),
    visibilitySeconds: fc.oneof(
      fc.constant(defaultVisibilitySeconds(timeoutMs)),
      whole(Math.floor(timeoutMs / 1_000) + 1, 43_200),
    ),
  }),
);

const secrets: fc.Arbitrary<SecretReferences> = fc.dictionary(
  fc.stringMatching(/^[B-Z][A-Za-z0-9_]{0,12}$/),
  fc.oneof(
    record({
      secretsManager: fc.stringMatching(/^[\w/+=.@-]{1,20}$/),
      key: maybe(fc.string({ minLength: 1 })),
    }).map(({ secretsManager, key }) => ({ secretsManager, ...present({ key }) })),
    record({ ssm: fc.stringMatching(/^(\/[\w.-]{1,5}){1,3}$/) }),
  ),
  { noNullPrototype: true },
);

const config: fc.Arbitrary<FullConfig> = record({
  name: routable,
  sink: fc.oneof(fc.constant('x-sink'), name),
  sump: fc.oneof(fc.constant('x-sump'), name),
  archives: maybe(fc.constantFrom('all' as const, 'failed' as const)),
  namespace: maybe(namespace),
  isEnd: fc.boolean(),
  maxHops: fc.oneof(fc.constant(100), whole(1)),
  fanOut: fc.constantFrom('array' as const, 'never' as const),
  routeAllow: maybe(fc.uniqueArray(routable, { maxLength: 4 }).map((names) => new Set(names))),
  resiliency,
  timing,
  transport,
  address,
  protocol: fc.constantFrom('payload' as const, 'envelope' as const),
  command: maybe(fc.string({ minLength: 1 })),
  startupTimeoutMs: maybe(limit),
  secrets: maybe(secrets),
  secretsRefreshMs: fc.oneof(fc.constant(300_000), limit),
  passEnv: fc.array(trimmedText, { maxLength: 3 }),
  roleArn: maybe(
    fc.constantFrom('arn:aws:iam::123456789012:role/a', 'arn:aws-cn:iam::123456789012:role/b/c'),
  ),
  runtimeEnv: maybe(
    fc.dictionary(
      fc.string(),
      maybe(fc.string()).map((text) => text ?? null),
      { noNullPrototype: true },
    ),
  ),
  maxResponseBytes: fc.oneof(fc.constant(6_291_456), whole(1)),
  concurrency: whole(1, 64),
  gatewayUrl: maybe(url('http', 'https')),
  gatewaySecret: maybe(fc.string({ minLength: 32 })),
  push: record({
    auth: fc.constantFrom('oidc' as const, 'iam' as const, 'none' as const),
    audience: maybe(trimmedText),
    serviceAccount: maybe(fc.constantFrom('push@shop.iam.gserviceaccount.com')),
    jwksUrl: maybe(fc.constantFrom('https://issuer/jwks')),
    ackDeadlineSeconds: whole(10, 600),
    port: maybe(whole(0, 65_535)),
  }).map(({ auth, ackDeadlineSeconds, ...optional }) => ({ auth, ackDeadlineSeconds, ...present(optional) })),
  gateway: record({
    keys: maybe(fc.string({ minLength: 32 })),
    keysFile: maybe(trimmedText),
    issuer: maybe(trimmedText),
    audience: maybe(trimmedText),
    jwksUrl: maybe(url('https')),
    flowsFile: maybe(trimmedText),
    publicUrl: maybe(url('http', 'https')),
    origins: fc.uniqueArray(fc.constantFrom('https://a.example', 'http://localhost:3000'), { maxLength: 2 }),
    port: fc.oneof(fc.constant(8_080), whole(0, 65_535)),
    ratePerSecond: fc.oneof(fc.constant(50), whole(1)),
  }).map(({ origins, port, ratePerSecond, ...rest }) => ({
    ...present(rest),
    origins,
    port,
    ratePerSecond,
  })),
  storage: record({
    bucket: maybe(trimmedText),
    kmsKey: maybe(trimmedText),
    table: maybe(trimmedText),
    s3Endpoint: maybe(url('http', 'https')),
    dynamoDbEndpoint: maybe(url('http', 'https')),
  }).map(present),
  deadLettersOf: fc.uniqueArray(name, { maxLength: 3 }),
  endpoint: maybe(url('http', 'https')),
  region: fc.oneof(fc.constant('us-east-1'), fc.string({ minLength: 1 })),
  account: maybe(fc.stringMatching(/^[0-9]{12}$/)),
  sqsClient: fc.constantFrom('slim' as const, 'sdk' as const),
  waitSeconds: whole(0, 20),
  rabbitUrl: fc.oneof(fc.constant('amqp://guest:guest@localhost:5672/'), url('amqp', 'amqps')),
  exchange: fc.oneof(fc.constant('asya'), fc.string({ minLength: 1 })),
  prefetch: whole(1, 65_535),
  delay: fc.constantFrom('none' as const, 'ttl' as const),
  retryMaxAttempts: fc.oneof(fc.constant(10), whole(1)),
  retryBackoffMs: fc.oneof(
    fc.constant(1_000),
    milliseconds.filter((value) => value > 0),
  ),
  autoCreate: fc.boolean(),
  metrics: listening,
  logLevel: fc.constantFrom('debug' as const, 'info' as const, 'warn' as const, 'error' as const),
  gracePeriodMs: fc.oneof(fc.constant(30_000), milliseconds),
})
  // Otherwise failures would come back to the actor that failed.
  .filter((given) => given.sink !== given.name)
  // A name in Pub/Sub begins with a letter and has at least three characters. With a namespace this is always true.
  .filter(
    ({ transport: { transport: named }, namespace, name }) =>
      named !== 'pubsub' || namespace !== undefined || /^(?!goog)[a-z].{2}/.test(name),
  )
  .map((given) => ({
    actor: {
      name: given.name,
      sink: given.sink,
      isEnd: given.isEnd,
      timeoutMs: given.timing.timeoutMs,
      maxHops: given.maxHops,
      fanOut: given.fanOut,
      ...present({ routeAllow: given.routeAllow }),
      resiliency: given.resiliency,
    },
    ...present({ namespace: given.namespace }),
    sump: given.sump,
    transport: given.transport.transport,
    runtime: {
      address: given.address,
      protocol: given.protocol,
      ...present({ command: given.command, startupTimeoutMs: given.startupTimeoutMs }),
      // Only a runtime that the sidecar starts has secrets.
      ...present({ secrets: given.command === undefined ? undefined : given.secrets }),
      secretsRefreshMs: given.secretsRefreshMs,
      ...present({ roleArn: given.roleArn, env: given.runtimeEnv }),
      passEnv: given.passEnv,
      maxResponseBytes: given.maxResponseBytes,
      concurrency: given.concurrency,
    },
    ...present({ gatewayUrl: given.gatewayUrl, gatewaySecret: given.gatewaySecret }),
    gateway: given.gateway,
    push: given.push,
    storage: given.storage,
    deadLettersOf: given.deadLettersOf,
    sqs: {
      ...present({ endpoint: given.endpoint, account: given.account }),
      region: given.region,
      client: given.sqsClient,
      visibilitySeconds: given.timing.visibilitySeconds,
      waitSeconds: given.waitSeconds,
    },
    pubsub: given.transport.pubsub,
    rabbitmq: {
      url: given.rabbitUrl,
      exchange: given.exchange,
      prefetch: given.prefetch,
      delay: given.delay,
    },
    queues: {
      retryMaxAttempts: given.retryMaxAttempts,
      retryBackoffMs: given.retryBackoffMs,
      autoCreate: given.autoCreate,
    },
    ...present({ metrics: given.metrics }),
    logLevel: given.logLevel,
    gracePeriodMs: given.gracePeriodMs,
  }));

describe('reading is the inverse of writing', () => {
  it('with variables', () => {
    fc.assert(
      fc.property(config, (given) => {
        const { variables, ...rest } = writeEnvironment(given);
        expect(rest).toEqual({});
        expect(readEnvironment(variables, noFile)).toStrictEqual({ config: given });
      }),
      { numRuns: RUNS, seed },
    );
  });

  it('with a file', () => {
    fc.assert(
      fc.property(config, (given) => {
        const { variables, resiliencyFile = '' } = writeEnvironment(given, '/etc/policies.json');
        expect(variables['ASYA_RESILIENCY_FILE']).toBe('/etc/policies.json');
        expect(variables).not.toHaveProperty('ASYA_RESILIENCY_POLICIES');
        expect(variables).not.toHaveProperty('ASYA_RESILIENCY_RULES');
        expect(readEnvironment(variables, fileOf(resiliencyFile))).toStrictEqual({ config: given });
      }),
      { numRuns: RUNS, seed },
    );
  });

  it.each<[string, ReadHostConfig<WritableConfig>]>([
    ['the sidecar', readSidecarConfig],
    ['the host on Cloud Run', readPushConfig],
    ['the gateway', readGatewayConfig],
    ['the operator', readOperatorConfig],
  ])('for %s', (_host, read) => {
    fc.assert(
      fc.property(config, (given) => {
        const reading = read(writeEnvironment(given).variables, noFile);
        if ('mistakes' in reading) throw new Error(mistakesText(reading.mistakes));
        expect(read(writeEnvironment(reading.config).variables, noFile)).toStrictEqual(reading);
      }),
      { numRuns: RUNS / 5, seed },
    );
  });

  it('and policies keep their order, as far as JSON keeps it', () => {
    const given = configOf({ ASYA_RESILIENCY_POLICIES: '{"b":{},"a":{}}' });
    expect(
      Object.keys(JSON.parse(writeEnvironment(given).variables['ASYA_RESILIENCY_POLICIES'] ?? '')),
    ).toEqual(['b', 'a']);
  });

  it('for the crew', () => {
    for (const env of [
      { ASYA_ACTOR_NAME: 'x-sink' },
      { ASYA_ACTOR_NAME: 'x-sink', ASYA_ACTOR_SUMP: 'my-sump', ASYA_ARCHIVE_BUCKET: 'envelopes' },
      { ASYA_ACTOR_NAME: 'x-sink', ASYA_RUNTIME_COMMAND: 'python3 -m app' },
      { ASYA_ACTOR_NAME: 'x-sink', ASYA_RUNTIME_URL: 'unix:/run/a.sock' },
      { ASYA_ACTOR_NAME: 'x-sump', ASYA_FAILURE_TABLE: 'failures' },
      { ASYA_ACTOR_NAME: 'x-dlq', ASYA_ACTOR_SINK: 'x-dlq' },
      { ASYA_ACTOR_NAME: 'x-dlq', ASYA_NAMESPACE: 'prod', ASYA_DEAD_LETTERS_OF: 'score,x-sink' },
    ]) {
      const given = configOf(env);
      expect(readEnvironment(writeEnvironment(given).variables, noFile)).toStrictEqual({ config: given });
    }
  });
});

/** Always written, because their defaults depend on other variables or on the platform. */
const ALWAYS = ['ASYA_ACTOR_NAME', 'ASYA_TRANSPORT', 'ASYA_RUNTIME_URL', 'ASYA_AWS_REGION'];

describe('defaults are not written', () => {
  it('for the default configuration', () => {
    expect(writeEnvironment(configOf()).variables).toEqual({
      ASYA_ACTOR_NAME: 'score',
      ASYA_TRANSPORT: 'sqs',
      ASYA_RUNTIME_URL: 'unix:/tmp/sockets/app.sock',
      ASYA_AWS_REGION: 'us-east-1',
    });
  });

  it('for any configuration', () => {
    fc.assert(
      fc.property(config, (given) => {
        for (const [variable, text] of Object.entries(writeEnvironment(given).variables)) {
          expect(SETTINGS[variable]).toBeDefined();
          expect(text).not.toBe(SETTINGS[variable]?.defaultText);
        }
      }),
      { numRuns: RUNS, seed },
    );
  });

  it('and every written variable is necessary', () => {
    fc.assert(
      fc.property(config, (given) => {
        const { variables } = writeEnvironment(given);
        for (const left of Object.keys(variables).filter((variable) => !ALWAYS.includes(variable))) {
          const { [left]: _left, ...rest } = variables;
          expect(readEnvironment(rest, noFile)).not.toEqual({ config: given });
        }
      }),
      { numRuns: Math.min(RUNS, 200), seed },
    );
  });

  it.each([
    ['disabled metrics are written', { ASYA_METRICS_ADDR: '' }],
    ['an empty list of allowed actors is written', { ASYA_ROUTE_ALLOW: '' }],
    ['a custom visibility timeout is written', { ASYA_SQS_VISIBILITY_TIMEOUT: '601' }],
  ])('%s', (_what, env) => {
    expect(writeEnvironment(configOf(env)).variables).toMatchObject(env);
  });

  it.each([
    ['the default visibility timeout', { ASYA_SQS_VISIBILITY_TIMEOUT: '600' }],
    ['the default metrics address', { ASYA_METRICS_ADDR: ':9090' }],
    ['no policies', { ASYA_RESILIENCY_POLICIES: '{}', ASYA_RESILIENCY_RULES: '[]' }],
  ])('%s is not written', (_what, env) => {
    for (const variable of Object.keys(env))
      expect(writeEnvironment(configOf(env)).variables).not.toHaveProperty(variable);
  });

  it('a file contains policies and rules, and the variables do not', () => {
    const written = writeEnvironment(
      configOf({ ASYA_RESILIENCY_POLICIES: '{"default":{"maxAttempts":3}}' }),
      '/f',
    );
    expect(written.variables).toMatchObject({ ASYA_RESILIENCY_FILE: '/f' });
    expect(JSON.parse(written.resiliencyFile ?? '')).toEqual({
      policies: { default: { maxAttempts: 3, backoff: 'exponential', initialDelay: '0s' } },
      rules: [],
    });
  });
});
