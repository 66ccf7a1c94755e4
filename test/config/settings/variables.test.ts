import { describe, expect, it } from 'vitest';
import type { FullConfig } from '../../../lib/config/settings/host-config.ts';
import { SETTINGS } from '../../../lib/config/settings/settings.ts';
import { configOf, refusalOf } from '../an-environment.ts';

type Get = (config: FullConfig) => unknown;

const NAME_RULE = 'an actor\'s name is 1 to 63 characters of a-z, 0-9 and "-"';
const DURATION_RULE = 'expected a duration such as "300ms", "1.5s", "5m" or "1h30m"';
const RUNTIME_RULE =
  '"unix:/tmp/sockets/app.sock", "http://127.0.0.1:8080/invoke" or "http+unix:/tmp/sockets/app.sock:/invoke"';

interface Variable {
  readonly name: string;
  readonly get: Get;
  readonly byDefault: unknown;
  /** Text and its value. */
  readonly good: readonly (readonly [string, unknown])[];
  /** Text and a part of the message after the variable and the value. */
  readonly bad: readonly (readonly [string, string])[];
  /** Other variables, so that the text causes one mistake only. */
  readonly alongside?: Readonly<Record<string, string>>;
}

/** Section 12 of the specification. */
const VARIABLES: readonly Variable[] = [
  {
    name: 'ASYA_ACTOR_NAME',
    get: ({ actor }) => actor.name,
    byDefault: 'score',
    good: [
      ['fetch-2', 'fetch-2'],
      ['x-sink', 'x-sink'],
    ],
    bad: [['Score', NAME_RULE]],
  },
  {
    name: 'ASYA_NAMESPACE',
    get: ({ namespace }) => namespace,
    byDefault: undefined,
    good: [
      ['prod-eu', 'prod-eu'],
      ['Prod_2', 'Prod_2'],
      ['p', 'p'],
    ],
    bad: [
      ['-prod', 'expected letters, digits, "-" and "_"'],
      ['prod_', 'expected letters, digits, "-" and "_"'],
      ['prod.eu', 'expected letters, digits, "-" and "_"'],
    ],
  },
  {
    name: 'ASYA_TRANSPORT',
    get: ({ transport }) => transport,
    byDefault: 'sqs',
    good: [
      ['sqs', 'sqs'],
      ['rabbitmq', 'rabbitmq'],
    ],
    bad: [
      ['rabitmq', 'one of sqs, pubsub, rabbitmq; did you mean "rabbitmq"?'],
      ['SQS', 'did you mean "sqs"?'],
    ],
  },
  {
    name: 'ASYA_SOCKET_PATH',
    get: ({ runtime }) => runtime.address,
    byDefault: { kind: 'socket', path: '/tmp/sockets/app.sock' },
    good: [['/run/a.sock', { kind: 'socket', path: '/run/a.sock' }]],
    bad: [
      ['run/a.sock', 'expected an absolute path, which starts with "/"'],
      ['./a.sock', 'expected an absolute path, which starts with "/"'],
    ],
  },
  {
    name: 'ASYA_RUNTIME_URL',
    get: ({ runtime }) => runtime.address,
    byDefault: { kind: 'socket', path: '/tmp/sockets/app.sock' },
    good: [
      ['unix:/run/a.sock', { kind: 'socket', path: '/run/a.sock' }],
      ['http://127.0.0.1:8080/invoke', { kind: 'http', url: 'http://127.0.0.1:8080/invoke' }],
      ['https://runtime/', { kind: 'http', url: 'https://runtime/' }],
      [
        'http+unix:/run/a.sock:/invoke',
        { kind: 'http-over-socket', path: '/run/a.sock', resource: '/invoke' },
      ],
    ],
    bad: [
      ['/run/a.sock', RUNTIME_RULE],
      ['unix:', RUNTIME_RULE],
      ['unix:a.sock', RUNTIME_RULE],
      ['tcp://127.0.0.1:1', RUNTIME_RULE],
      ['http+unix:/run/a.sock', RUNTIME_RULE],
      ['http+unix:run/a.sock:/invoke', RUNTIME_RULE],
      ['xunix:/run/a.sock', RUNTIME_RULE],
      ['http:', RUNTIME_RULE],
    ],
  },
  {
    name: 'ASYA_RUNTIME_PROTOCOL',
    get: ({ runtime }) => runtime.protocol,
    byDefault: 'payload',
    good: [['envelope', 'envelope']],
    bad: [['envelop', 'one of payload, envelope; did you mean "envelope"?']],
  },
  {
    name: 'ASYA_RUNTIME_COMMAND',
    get: ({ runtime }) => runtime.command,
    byDefault: undefined,
    good: [['python3 -m app', 'python3 -m app']],
    bad: [],
  },
  {
    name: 'ASYA_RUNTIME_STARTUP_TIMEOUT',
    get: ({ runtime }) => runtime.startupTimeoutMs,
    byDefault: undefined,
    good: [['10m', 600_000]],
    bad: [
      ['0s', 'above 0'],
      ['soon', DURATION_RULE],
    ],
  },
  {
    name: 'ASYA_RUNTIME_PASS_ENV',
    get: ({ runtime }) => runtime.passEnv,
    byDefault: [],
    good: [
      ['', []],
      ['AWS_PROFILE', ['AWS_PROFILE']],
      ['A, B ,C', ['A', 'B', 'C']],
    ],
    bad: [
      ['A,,B', 'expected a comma-separated list; "" is not valid: it must not be empty'],
      ['A,', '"" is not valid'],
    ],
  },
  {
    name: 'ASYA_RUNTIME_SECRETS',
    get: ({ runtime }) => runtime.secrets,
    byDefault: undefined,
    alongside: { ASYA_RUNTIME_COMMAND: 'node app.js' },
    good: [
      ['', undefined],
      ['{}', {}],
      ['{"A":{"secretsManager":"my/openai"}}', { A: { secretsManager: 'my/openai' } }],
      ['{"A":{"secretsManager":"my/openai","key":"k"}}', { A: { secretsManager: 'my/openai', key: 'k' } }],
      ['{"A":{"ssm":"/my/openai"}}', { A: { ssm: '/my/openai' } }],
    ],
    bad: [],
  },
  {
    name: 'ASYA_RUNTIME_SECRETS_REFRESH',
    get: ({ runtime }) => runtime.secretsRefreshMs,
    byDefault: 300_000,
    good: [['90s', 90_000]],
    bad: [
      ['5', DURATION_RULE],
      ['0s', 'expected a duration above 0'],
    ],
  },
  {
    name: 'ASYA_RUNTIME_ROLE_ARN',
    get: ({ runtime }) => runtime.roleArn,
    byDefault: undefined,
    good: [
      ['arn:aws:iam::123456789012:role/score', 'arn:aws:iam::123456789012:role/score'],
      ['arn:aws-cn:iam::123456789012:role/a/b/score_1', 'arn:aws-cn:iam::123456789012:role/a/b/score_1'],
    ],
    bad: [
      ['score', 'expected the ARN of an IAM role'],
      ['arn:aws:iam::123456789012:user/score', 'expected the ARN of an IAM role'],
    ],
  },
  {
    name: 'ASYA_RUNTIME_ENV',
    get: ({ runtime }) => runtime.env,
    byDefault: undefined,
    good: [
      ['{}', {}],
      ['{"AWS_PROFILE":"dev","AWS_REGION":null}', { AWS_PROFILE: 'dev', AWS_REGION: null }],
    ],
    bad: [
      ['AWS_PROFILE=dev', 'expected a JSON object of variables'],
      ['["a"]', 'expected a JSON object of variables'],
      ['{"A":1}', 'expected a JSON object of variables'],
    ],
  },
  {
    name: 'ASYA_RUNTIME_MAX_RESPONSE',
    get: ({ runtime }) => runtime.maxResponseBytes,
    byDefault: 6 * 1024 * 1024,
    good: [
      ['1', 1],
      ['1048576', 1_048_576],
    ],
    bad: [
      ['0', 'expected a whole number from 1 to 1000000000'],
      ['6MiB', 'expected a whole number from 1 to 1000000000'],
      ['1000000001', 'expected a whole number from 1 to 1000000000'],
    ],
  },
  {
    name: 'ASYA_RESILIENCY_ACTOR_TIMEOUT',
    get: ({ actor }) => actor.timeoutMs,
    byDefault: 300_000,
    good: [
      ['1.5s', 1_500],
      ['1h', 3_600_000],
    ],
    bad: [
      ['300', DURATION_RULE],
      ['-5m', DURATION_RULE],
      ['0s', 'expected a duration above 0'],
      ['0', 'expected a duration above 0'],
    ],
  },
  {
    name: 'ASYA_ACTOR_SINK',
    get: ({ actor }) => actor.sink,
    byDefault: 'x-sink',
    good: [['my-sink', 'my-sink']],
    bad: [['X-Sink', NAME_RULE]],
  },
  {
    name: 'ASYA_ACTOR_SUMP',
    get: ({ sump }) => sump,
    byDefault: 'x-sump',
    good: [['my-sump', 'my-sump']],
    bad: [['x_sump', NAME_RULE]],
  },
  {
    name: 'ASYA_ARCHIVE',
    get: ({ archives }) => archives,
    byDefault: undefined,
    good: [
      ['all', 'all'],
      ['failed', 'failed'],
    ],
    bad: [['fialed', 'expected one of all, failed; did you mean "failed"?']],
  },
  {
    name: 'ASYA_IS_END_ACTOR',
    get: ({ actor }) => actor.isEnd,
    byDefault: false,
    good: [
      ['true', true],
      ['TRUE', true],
      ['false', false],
      ['False', false],
      ['1', true],
      ['0', false],
      ['yes', true],
      ['no', false],
      ['on', true],
      ['off', false],
    ],
    bad: [
      ['maybe', 'true or false'],
      ['2', 'true or false'],
    ],
  },
  {
    name: 'ASYA_FANOUT',
    get: ({ actor }) => actor.fanOut,
    byDefault: 'array',
    good: [
      ['array', 'array'],
      ['never', 'never'],
    ],
    bad: [['nevr', 'one of array, never; did you mean "never"?']],
  },
  {
    name: 'ASYA_MAX_HOPS',
    get: ({ actor }) => actor.maxHops,
    byDefault: 100,
    good: [
      ['1', 1],
      ['5000', 5_000],
    ],
    bad: [
      ['0', 'a whole number from 1'],
      ['-1', 'a whole number from 1'],
      ['1.5', 'a whole number from 1'],
      ['1e3', 'a whole number from 1'],
      ['many', 'a whole number from 1'],
      ['9007199254740993', 'a whole number from 1'],
    ],
  },
  {
    name: 'ASYA_ROUTE_ALLOW',
    get: ({ actor }) => actor.routeAllow,
    byDefault: undefined,
    good: [
      ['', new Set()],
      ['store', new Set(['store'])],
      ['store, notify', new Set(['store', 'notify'])],
    ],
    bad: [
      ['store,Notify', `expected a comma-separated list; "Notify" is not valid: ${NAME_RULE}`],
      [',', '"" is not valid'],
    ],
  },
  {
    name: 'ASYA_CONCURRENCY',
    get: ({ runtime }) => runtime.concurrency,
    byDefault: 1,
    good: [['8', 8]],
    bad: [['0', 'a whole number from 1']],
  },
  {
    name: 'ASYA_GATEWAY_URL',
    get: ({ gatewayUrl }) => gatewayUrl,
    byDefault: undefined,
    good: [
      ['http://gateway:8080', 'http://gateway:8080'],
      ['https://gateway', 'https://gateway'],
    ],
    bad: [
      ['gateway:8080', 'a URL like "http://host:port"'],
      ['ftp://gateway', 'a URL like "http://host:port"'],
    ],
  },
  {
    name: 'ASYA_GATEWAY_SECRET',
    get: ({ gatewaySecret }) => gatewaySecret,
    byDefault: undefined,
    good: [['ssssssssssssssssssssssssssssssss', 'ssssssssssssssssssssssssssssssss']],
    bad: [['short', 'has 5 characters; expected 32 characters or more']],
  },
  {
    name: 'ASYA_GATEWAY_KEYS',
    get: ({ gateway }) => gateway.keys,
    byDefault: undefined,
    good: [['[]', '[]']],
    bad: [],
  },
  {
    name: 'ASYA_GATEWAY_KEYS_FILE',
    get: ({ gateway }) => gateway.keysFile,
    byDefault: undefined,
    good: [['x', 'x']],
    bad: [],
  },
  {
    name: 'ASYA_GATEWAY_JWT_ISSUER',
    get: ({ gateway }) => gateway.issuer,
    byDefault: undefined,
    good: [['x', 'x']],
    bad: [],
  },
  {
    name: 'ASYA_GATEWAY_JWT_AUDIENCE',
    get: ({ gateway }) => gateway.audience,
    byDefault: undefined,
    good: [['x', 'x']],
    bad: [],
  },
  {
    name: 'ASYA_GATEWAY_FLOWS_FILE',
    get: ({ gateway }) => gateway.flowsFile,
    byDefault: undefined,
    good: [['x', 'x']],
    bad: [],
  },
  {
    name: 'ASYA_GATEWAY_ORIGINS',
    get: ({ gateway }) => gateway.origins,
    byDefault: [],
    good: [['https://a.example,http://localhost:3000', ['https://a.example', 'http://localhost:3000']]],
    bad: [['https://a.example,', 'expected a comma-separated list']],
  },
  {
    name: 'ASYA_GATEWAY_JWKS_URL',
    get: ({ gateway }) => gateway.jwksUrl,
    byDefault: undefined,
    good: [
      ['https://issuer/jwks', 'https://issuer/jwks'],
      ['http://127.0.0.1:1/jwks', 'http://127.0.0.1:1/jwks'],
    ],
    bad: [
      ['issuer', 'a URL like "https:'],
      ['http://issuer/jwks', 'expected an "https:" URL'],
      ['http://localhost.issuer/jwks', 'expected an "https:" URL'],
    ],
  },
  {
    name: 'ASYA_GATEWAY_PORT',
    get: ({ gateway }) => gateway.port,
    byDefault: 8_080,
    good: [
      ['0', 0],
      ['9000', 9_000],
    ],
    bad: [['65536', 'a whole number from 0 to 65535']],
  },
  {
    name: 'ASYA_GATEWAY_PUBLIC_URL',
    get: ({ gateway }) => gateway.publicUrl,
    byDefault: undefined,
    good: [['https://flows.example', 'https://flows.example']],
    bad: [['flows.example', 'a URL like']],
  },
  {
    name: 'ASYA_GATEWAY_RATE',
    get: ({ gateway }) => gateway.ratePerSecond,
    byDefault: 50,
    good: [['5', 5]],
    bad: [['0', 'a whole number from 1']],
  },
  {
    name: 'ASYA_PUSH_AUTH',
    get: ({ push }) => push.auth,
    byDefault: 'oidc',
    good: [
      ['none', 'none'],
      ['iam', 'iam'],
    ],
    bad: [['off', 'expected one of oidc, iam, none']],
  },
  {
    name: 'ASYA_PUSH_AUDIENCE',
    get: ({ push }) => push.audience,
    byDefault: undefined,
    good: [['https://score.example.com', 'https://score.example.com']],
    bad: [],
  },
  {
    name: 'ASYA_PUSH_SERVICE_ACCOUNT',
    get: ({ push }) => push.serviceAccount,
    byDefault: undefined,
    good: [['push@shop.iam.gserviceaccount.com', 'push@shop.iam.gserviceaccount.com']],
    bad: [['push', 'expected an email address like']],
  },
  {
    name: 'ASYA_PUSH_JWKS_URL',
    get: ({ push }) => push.jwksUrl,
    byDefault: undefined,
    good: [
      ['https://issuer/jwks', 'https://issuer/jwks'],
      ['http://127.0.0.1:1/jwks', 'http://127.0.0.1:1/jwks'],
    ],
    bad: [
      ['issuer', 'a URL like "https:'],
      ['http://issuer/jwks', 'expected an "https:" URL'],
      ['http://localhost.issuer/jwks', 'expected an "https:" URL'],
    ],
  },
  {
    name: 'ASYA_PUSH_ACK_DEADLINE',
    get: ({ push }) => push.ackDeadlineSeconds,
    byDefault: 600,
    good: [['10', 10]],
    bad: [
      ['9', 'a whole number from 10 to 600'],
      ['601', 'a whole number from 10 to 600'],
    ],
  },
  {
    name: 'ASYA_PUSH_PORT',
    get: ({ push }) => push.port,
    byDefault: undefined,
    good: [['0', 0]],
    bad: [['65536', 'a whole number from 0 to 65535']],
  },
  {
    name: 'ASYA_ARCHIVE_BUCKET',
    get: ({ storage }) => storage.bucket,
    byDefault: undefined,
    good: [['envelopes', 'envelopes']],
    bad: [],
  },
  {
    name: 'ASYA_ARCHIVE_KMS_KEY',
    get: ({ storage }) => storage.kmsKey,
    byDefault: undefined,
    good: [['alias/envelopes', 'alias/envelopes']],
    bad: [],
  },
  {
    name: 'ASYA_FAILURE_TABLE',
    get: ({ storage }) => storage.table,
    byDefault: undefined,
    good: [['failures', 'failures']],
    bad: [],
  },
  {
    name: 'ASYA_S3_ENDPOINT',
    get: ({ storage }) => storage.s3Endpoint,
    byDefault: undefined,
    good: [['http://127.0.0.1:4566', 'http://127.0.0.1:4566']],
    bad: [['127.0.0.1:4566', 'a URL like "http://host:port"']],
  },
  {
    name: 'ASYA_DYNAMODB_ENDPOINT',
    get: ({ storage }) => storage.dynamoDbEndpoint,
    byDefault: undefined,
    good: [['http://127.0.0.1:8000', 'http://127.0.0.1:8000']],
    bad: [['127.0.0.1:8000', 'a URL like "http://host:port"']],
  },
  {
    name: 'ASYA_DEAD_LETTERS_OF',
    get: ({ deadLettersOf }) => deadLettersOf,
    byDefault: [],
    good: [
      ['', []],
      ['score', ['score']],
      ['score, x-sink ,x-sump', ['score', 'x-sink', 'x-sump']],
    ],
    bad: [
      ['score,Notify', `expected a comma-separated list; "Notify" is not valid: ${NAME_RULE}`],
      [',', '"" is not valid'],
    ],
  },
  {
    name: 'ASYA_SQS_ENDPOINT',
    get: ({ sqs }) => sqs.endpoint,
    byDefault: undefined,
    good: [['http://127.0.0.1:4566', 'http://127.0.0.1:4566']],
    bad: [['127.0.0.1:4566', 'a URL like "http://host:port"']],
  },
  {
    name: 'ASYA_AWS_REGION',
    get: ({ sqs }) => sqs.region,
    byDefault: 'us-east-1',
    good: [['eu-central-1', 'eu-central-1']],
    bad: [],
  },
  {
    name: 'ASYA_SQS_ACCOUNT',
    get: ({ sqs }) => sqs.account,
    byDefault: undefined,
    good: [['111122223333', '111122223333']],
    bad: [
      ['11112222333', 'the 12 digits of an AWS account'],
      ['1111-2222-3333', 'the 12 digits of an AWS account'],
    ],
  },
  {
    name: 'ASYA_SQS_CLIENT',
    get: ({ sqs }) => sqs.client,
    byDefault: 'slim',
    good: [['sdk', 'sdk']],
    bad: [['aws', 'one of slim, sdk']],
  },
  {
    name: 'ASYA_SQS_VISIBILITY_TIMEOUT',
    get: ({ sqs }) => sqs.visibilitySeconds,
    byDefault: 600,
    good: [
      ['301', 301],
      ['43200', 43_200],
    ],
    bad: [
      ['43201', 'a whole number from 1 to 43200'],
      ['0', 'a whole number from 1 to 43200'],
      ['10m', 'a whole number from 1 to 43200'],
    ],
  },
  {
    name: 'ASYA_SQS_WAIT_TIME_SECONDS',
    get: ({ sqs }) => sqs.waitSeconds,
    byDefault: 20,
    good: [
      ['0', 0],
      ['20', 20],
    ],
    bad: [
      ['21', 'a whole number from 0 to 20'],
      ['-1', 'a whole number from 0 to 20'],
    ],
  },
  {
    name: 'ASYA_PUBSUB_PROJECT_ID',
    get: ({ pubsub }) => pubsub.projectId,
    alongside: { ASYA_TRANSPORT: 'sqs' },
    byDefault: undefined,
    good: [['my-project', 'my-project']],
    bad: [],
  },
  {
    name: 'ASYA_PUBSUB_ENDPOINT',
    get: ({ pubsub }) => pubsub.endpoint,
    byDefault: undefined,
    good: [
      ['127.0.0.1:8085', '127.0.0.1:8085'],
      ['europe-west1-pubsub.googleapis.com:443', 'europe-west1-pubsub.googleapis.com:443'],
    ],
    bad: [
      ['127.0.0.1', 'expected host:port, such as "127.0.0.1:8085"'],
      ['http://127.0.0.1:8085', 'expected host:port, such as "127.0.0.1:8085"'],
      ['127.0.0.1:0', 'expected host:port, such as "127.0.0.1:8085"'],
      ['127.0.0.1:65536', 'expected host:port, such as "127.0.0.1:8085"'],
    ],
  },
  {
    name: 'ASYA_PUBSUB_DELAYER_TOPIC',
    get: ({ pubsub }) => pubsub.delayerTopic,
    byDefault: 'me-pubsub-delayer',
    good: [['later', 'later']],
    bad: [],
  },
  {
    name: 'ASYA_RABBITMQ_URL',
    get: ({ rabbitmq }) => rabbitmq.url,
    byDefault: 'amqp://guest:guest@localhost:5672/',
    good: [
      ['amqp://u:p@rabbit/', 'amqp://u:p@rabbit/'],
      ['amqps://rabbit', 'amqps://rabbit'],
    ],
    bad: [
      ['http://rabbit', 'a URL like "amqp://host:port"'],
      ['rabbit', 'a URL like "amqp://host:port"'],
      ['amqp:rabbit', 'a URL like "amqp://host:port"'],
      ['amqp://', 'a URL like "amqp://host:port"'],
    ],
  },
  {
    name: 'ASYA_RABBITMQ_EXCHANGE',
    get: ({ rabbitmq }) => rabbitmq.exchange,
    byDefault: 'asya',
    good: [['mesh', 'mesh']],
    bad: [],
  },
  {
    name: 'ASYA_RABBITMQ_PREFETCH',
    get: ({ rabbitmq }) => rabbitmq.prefetch,
    byDefault: 1,
    good: [
      ['1', 1],
      ['65535', 65_535],
    ],
    bad: [
      ['0', 'a whole number from 1 to 65535'],
      ['65536', 'a whole number from 1 to 65535'],
    ],
  },
  {
    name: 'ASYA_RABBITMQ_DELAY',
    get: ({ rabbitmq }) => rabbitmq.delay,
    byDefault: 'none',
    good: [['none', 'none']],
    bad: [['non', 'did you mean "none"?']],
  },
  {
    name: 'ASYA_QUEUE_RETRY_MAX_ATTEMPTS',
    get: ({ queues }) => queues.retryMaxAttempts,
    byDefault: 10,
    good: [['1', 1]],
    bad: [['ten', 'a whole number from 1']],
  },
  {
    name: 'ASYA_QUEUE_RETRY_BACKOFF',
    get: ({ queues }) => queues.retryBackoffMs,
    byDefault: 1_000,
    good: [['250ms', 250]],
    bad: [['1', DURATION_RULE]],
  },
  {
    name: 'ASYA_QUEUE_AUTO_CREATE',
    get: ({ queues }) => queues.autoCreate,
    byDefault: false,
    good: [['true', true]],
    bad: [['ja', 'true or false']],
  },
  {
    name: 'ASYA_METRICS_ADDR',
    get: ({ metrics }) => metrics,
    byDefault: { port: 9_090 },
    good: [
      ['', undefined],
      [':8000', { port: 8_000 }],
      ['127.0.0.1:8000', { host: '127.0.0.1', port: 8_000 }],
      ['[::1]:65535', { host: '[::1]', port: 65_535 }],
    ],
    bad: [
      ['9090', 'expected ":9090" or "127.0.0.1:9090"; an empty value turns it off'],
      [':65536', '":9090"'],
      [':', '":9090"'],
      [':metrics', '":9090"'],
    ],
  },
  {
    name: 'ASYA_LOG_LEVEL',
    get: ({ logLevel }) => logLevel,
    byDefault: 'info',
    good: [
      ['debug', 'debug'],
      ['warn', 'warn'],
      ['error', 'error'],
    ],
    bad: [['warning', 'one of debug, info, warn, error; did you mean "warn"?']],
  },
  {
    name: 'ASYA_GRACE_PERIOD',
    get: ({ gracePeriodMs }) => gracePeriodMs,
    byDefault: 30_000,
    good: [
      ['0s', 0],
      ['2m', 120_000],
    ],
    bad: [['thirty', DURATION_RULE]],
  },
];

describe.each(VARIABLES)('$name', ({ name, get, byDefault, good, bad, alongside = {} }) => {
  it('has its default if it is not set', () => {
    expect(get(configOf())).toEqual(byDefault);
  });

  it('an empty value counts as not set, unless it has a meaning', () => {
    const emptyMeans = SETTINGS[name]?.emptyMeans;
    const meaning = good.find(([text]) => text === '');
    if (emptyMeans !== undefined) expect(meaning).toBeDefined();
    else if (name === 'ASYA_ACTOR_NAME')
      expect(refusalOf({ [name]: '' })[0]).toContain(`${name}: is not set`);
    else expect(configOf({ [name]: '' })).toStrictEqual(configOf());
  });

  it.each(good)('accepts %j', (text, value) => {
    expect(get(configOf({ [name]: text, ...alongside }))).toEqual(value);
  });

  it.each(bad)('rejects %j', (text, message) => {
    const lines = refusalOf({ [name]: text, ...alongside });
    expect(lines).toHaveLength(1);
    const isSecret = SETTINGS[name]?.isSecret;
    expect(lines[0]).toContain(
      isSecret ? `${name}: has ${text.length} characters; ` : `${name}: is ${JSON.stringify(text)}; `,
    );
    expect(lines[0]).toContain(message);
  });
});

describe('the table above', () => {
  it('contains every variable except those of policies and of the runtime', () => {
    const policyVariables = ['ASYA_RESILIENCY_POLICIES', 'ASYA_RESILIENCY_RULES', 'ASYA_RESILIENCY_FILE'];
    const runtimeVariables = ['ASYA_HANDLER', 'ASYA_RUNTIME_MAX_REQUEST'];
    expect([...VARIABLES.map(({ name }) => name), ...policyVariables, ...runtimeVariables].sort()).toEqual(
      Object.keys(SETTINGS).sort(),
    );
  });
});

describe('an optional setting that is not set is absent', () => {
  it('in the minimal configuration', () => {
    expect(configOf()).toStrictEqual({
      actor: {
        name: 'score',
        sink: 'x-sink',
        isEnd: false,
        timeoutMs: 300_000,
        maxHops: 100,
        fanOut: 'array',
        resiliency: { policies: new Map(), rules: [] },
      },
      sump: 'x-sump',
      transport: 'sqs',
      runtime: {
        address: { kind: 'socket', path: '/tmp/sockets/app.sock' },
        protocol: 'payload',
        passEnv: [],
        secretsRefreshMs: 300_000,
        maxResponseBytes: 6_291_456,
        concurrency: 1,
      },
      gateway: { origins: [], port: 8_080, ratePerSecond: 50 },
      push: { auth: 'oidc', ackDeadlineSeconds: 600 },
      storage: {},
      deadLettersOf: [],
      sqs: { region: 'us-east-1', client: 'slim', visibilitySeconds: 600, waitSeconds: 20 },
      pubsub: { delayerTopic: 'me-pubsub-delayer' },
      rabbitmq: { url: 'amqp://guest:guest@localhost:5672/', exchange: 'asya', prefetch: 1, delay: 'none' },
      queues: { retryMaxAttempts: 10, retryBackoffMs: 1_000, autoCreate: false },
      metrics: { port: 9_090 },
      logLevel: 'info',
      gracePeriodMs: 30_000,
    });
  });
});

describe('service links of Kubernetes', () => {
  const LINKS = {
    ASYA_SERVICE_HOST: '10.0.0.1',
    ASYA_SERVICE_PORT: '80',
    ASYA_PORT: 'tcp://10.0.0.1:80',
    ASYA_GATEWAY_SERVICE_HOST: '10.0.0.7',
    ASYA_GATEWAY_SERVICE_PORT: '8080',
    ASYA_GATEWAY_SERVICE_PORT_HTTP: '8080',
    ASYA_GATEWAY_PORT: 'tcp://10.0.0.7:8080',
    ASYA_GATEWAY_PORT_8080_TCP: 'tcp://10.0.0.7:8080',
    ASYA_GATEWAY_PORT_8080_TCP_PROTO: 'tcp',
    ASYA_GATEWAY_PORT_8080_TCP_PORT: '8080',
    ASYA_GATEWAY_PORT_8080_TCP_ADDR: '10.0.0.7',
    ASYA_DNS_PORT: 'udp://10.0.0.9:53',
    ASYA_DNS_PORT_53_UDP: 'udp://10.0.0.9:53',
  };

  it('are ignored, even with the name of a setting', () => {
    expect(configOf(LINKS)).toStrictEqual(configOf());
  });

  it.each([
    ['ASYA_GATEWAY_PORT', 'http://10.0.0.7', 'expected a whole number from 0 to 65535'],
    ['ASYA_GATEWAY_PORTS', 'tcp://10.0.0.7:8080', 'did you mean "ASYA_GATEWAY_PORT"?'],
    ['ASYA_GATEWAY_SERVICE', '10.0.0.7', 'is not a known setting'],
    ['ASYA_METRICS_ADDR_SERVICE_HOSTS', '10.0.0.7', 'is not a known setting'],
  ])('are not mistaken for others: %s=%s', (name, text, problem) => {
    expect(refusalOf({ [name]: text })[0]).toContain(problem);
  });
});

describe('actors of the mesh itself', () => {
  it('are always end actors', () => {
    expect(configOf({ ASYA_ACTOR_NAME: 'x-dlq' }).actor.isEnd).toBe(true);
    expect(configOf({ ASYA_ACTOR_NAME: 'x-dlq', ASYA_IS_END_ACTOR: 'false' }).actor.isEnd).toBe(true);
    expect(configOf({ ASYA_ACTOR_NAME: 'x1' }).actor.isEnd).toBe(false);
  });
});

describe('the crew', () => {
  const STORAGE = { ASYA_ARCHIVE_BUCKET: 'archive', ASYA_FAILURE_TABLE: 'failures' };
  const crewOf = (env: Readonly<Record<string, string>>) => configOf(env).actor.crew;

  it.each([
    [{ ASYA_ACTOR_NAME: 'x-sink' }, { role: 'sink', sump: 'x-sump' }],
    [
      { ASYA_ACTOR_NAME: 'x-sink', ASYA_ACTOR_SUMP: 'my-sump' },
      { role: 'sink', sump: 'my-sump' },
    ],
    [{ ASYA_ACTOR_NAME: 'x-sump' }, { role: 'sump' }],
    [{ ASYA_ACTOR_NAME: 'x-dlq' }, { role: 'dlq', queuePrefix: '' }],
    [
      { ASYA_ACTOR_NAME: 'x-dlq', ASYA_NAMESPACE: 'prod' },
      { role: 'dlq', queuePrefix: 'asya-prod-' },
    ],
  ])('needs storage and no runtime: %j', (env, crew) => {
    expect(crewOf({ ...env, ...STORAGE })).toStrictEqual(crew);
  });

  it.each(['x-sink', 'x-sump', 'x-dlq'])('does not include %s with a custom runtime', (name) => {
    const env = { ASYA_ACTOR_NAME: name, ...STORAGE };
    expect(crewOf({ ...env, ASYA_RUNTIME_COMMAND: 'python3 -m app' })).toBeUndefined();
    expect(crewOf({ ...env, ASYA_RUNTIME_URL: 'unix:/run/a.sock' })).toBeUndefined();
  });

  it.each(['x-sink', 'x-sump', 'x-dlq'])(
    'does not include %s without storage, which is an ordinary end actor',
    (name) => {
      const { actor, runtime } = configOf({ ASYA_ACTOR_NAME: name, ASYA_IS_END_ACTOR: 'true' });
      expect(actor).toMatchObject({ name, isEnd: true });
      expect(actor).not.toHaveProperty('crew');
      expect(runtime.address).toEqual({ kind: 'socket', path: '/tmp/sockets/app.sock' });
    },
  );

  it.each(Object.entries(STORAGE))('includes x-sink with only a part of its storage: %s', (name, text) => {
    expect(crewOf({ ASYA_ACTOR_NAME: 'x-sink', [name]: text })).toBeDefined();
  });

  it.each(['score', 'x-other', 'sink', 'x-sink-2'])('does not include %s', (name) => {
    expect(crewOf({ ASYA_ACTOR_NAME: name, ...STORAGE })).toBeUndefined();
  });
});

describe('the variables that a runtime reads', () => {
  it.each([
    [{ ASYA_HANDLER: 'app.handler' }, []],
    [{ ASYA_HANDLER: '' }, []],
    [{ ASYA_RUNTIME_MAX_REQUEST: '1' }, []],
    [
      { ASYA_RUNTIME_MAX_REQUEST: '0' },
      ['ASYA_RUNTIME_MAX_REQUEST: is "0"; expected a whole number from 1 to 1000000000'],
    ],
  ])('are validated like all others: %j', (env, lines) => {
    expect(refusalOf(env)).toEqual(lines);
  });
});

describe('the runtime', () => {
  it('has the address of its URL, even if a socket path is set', () => {
    const config = configOf({ ASYA_RUNTIME_URL: 'http://127.0.0.1:8080/', ASYA_SOCKET_PATH: '/run/a.sock' });
    expect(config.runtime.address).toEqual({ kind: 'http', url: 'http://127.0.0.1:8080/' });
  });
});

describe('the secrets of the runtime', () => {
  const refusalWith = (text: string) => refusalOf({ ASYA_RUNTIME_COMMAND: 'a', ASYA_RUNTIME_SECRETS: text });
  const EXAMPLE =
    'expected a JSON object such as {"OPENAI_API_KEY":{"secretsManager":"my/openai","key":"api_key"}}';

  it.each([
    ['sk-123', `has 6 characters; ${EXAMPLE}`],
    ['[]', `has 2 characters; ${EXAMPLE}`],
    [
      '{"KEY":"sk-123"}',
      'has 16 characters; KEY: is text; expected a reference such as {secretsManager: my/openai, key: api_key} or {ssm: /my/openai}; use environment for a value that is not secret',
    ],
    [
      '{"ASYA_X":{"ssm":"/a"},"AWS_PROFILE":{"smm":"/a"}}',
      'has 50 characters; ASYA_X: is reserved: variables that start with ASYA_ are set by the mesh; ' +
        "AWS_PROFILE: is reserved: handlers do not receive variables with a cloud provider's credentials; " +
        'AWS_PROFILE.smm: is not a known field; did you mean "ssm"?',
    ],
  ])('are validated without repeating the text: %s', (text, problem) => {
    expect(refusalWith(text)).toEqual([`ASYA_RUNTIME_SECRETS: ${problem}`]);
  });

  it('need a runtime that the sidecar starts', () => {
    expect(refusalOf({ ASYA_RUNTIME_SECRETS: '{"A":{"ssm":"/a"}}' })).toEqual([
      'ASYA_RUNTIME_SECRETS: is set, but ASYA_RUNTIME_COMMAND is not; the sidecar passes secrets only to a runtime that it starts',
    ]);
  });
});

describe('the region', () => {
  it.each([
    ['from ASYA_AWS_REGION first', { ASYA_AWS_REGION: 'eu-west-1', AWS_REGION: 'eu-west-2' }, 'eu-west-1'],
    ['then from AWS_REGION', { AWS_REGION: 'eu-west-2' }, 'eu-west-2'],
    ['us-east-1 by default', {}, 'us-east-1'],
    ['us-east-1 if AWS_REGION is empty', { AWS_REGION: '' }, 'us-east-1'],
  ])('%s', (_what, env, region) => {
    expect(configOf(env).sqs.region).toBe(region);
  });
});
