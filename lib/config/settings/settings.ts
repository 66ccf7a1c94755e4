import { DEFAULT_DELAYER_TOPIC } from '../../core/pipeline/delayer.ts';
import { hostAndPort, keysUrl, listenAddress, runtimeAddress } from './addresses.ts';
import { pushAuth, serviceAccount } from './push-settings.ts';
import {
  absolutePath,
  actorName,
  duration,
  emptyMeans,
  flag,
  hiddenText,
  listOf,
  namespace,
  oneOf,
  positiveDuration,
  type Setting,
  secret,
  setting,
  text,
  unset,
  url,
  wholeNumber,
} from './setting.ts';
import {
  MAX_ACK_DEADLINE_SECONDS,
  MAX_VISIBILITY_SECONDS,
  MIN_ACK_DEADLINE_SECONDS,
} from './sidecar-config.ts';

/** Every variable a sidecar knows: read at start, written by the infrastructure, listed in docs/configuration.md. */
export const SETTINGS = {
  ASYA_ACTOR_NAME: unset(actorName, 'The actor it serves. Required.', '-'),
  ASYA_NAMESPACE: unset(
    namespace,
    'Set: queues are called `asya-{namespace}-{actor}`.',
    'queues are called as the actor',
  ),
  ASYA_TRANSPORT: unset(
    oneOf('sqs', 'pubsub', 'rabbitmq'),
    'The broker.',
    '`sqs`; `rabbitmq` or `pubsub` where only their URL or project is set',
  ),
  ASYA_SOCKET_PATH: setting(absolutePath, "The runtime's socket.", '/tmp/sockets/app.sock'),
  ASYA_RUNTIME_URL: unset(runtimeAddress, 'Where the runtime listens.', '`unix:` and `ASYA_SOCKET_PATH`'),
  ASYA_RUNTIME_PROTOCOL: setting(
    oneOf('payload', 'envelope'),
    'What the runtime is given: the payload, or the whole envelope.',
    'payload',
  ),
  ASYA_RUNTIME_COMMAND: unset(
    text,
    'The sidecar starts the runtime with this command.',
    'somebody else starts it',
  ),
  ASYA_HANDLER: unset(
    text,
    'What the runtime loads; read by the runtime, where its command does not say it.',
    'none',
  ),
  ASYA_RUNTIME_PASS_ENV: setting(
    listOf(text),
    'Variables that a runtime started by the sidecar is given though they hold credentials.',
    '',
  ),
  ASYA_RUNTIME_STARTUP_TIMEOUT: unset(
    positiveDuration,
    "How long a runtime that the sidecar starts may take to become ready. It does not count towards any call's timeout. A runtime that takes longer is killed and started again.",
    '`60s`; on Lambda also the actor timeout, if that is longer',
  ),
  ASYA_RUNTIME_MAX_RESPONSE: setting(wholeNumber(1), 'The longest answer of a runtime, in bytes.', '6291456'),
  ASYA_RUNTIME_MAX_REQUEST: setting(
    wholeNumber(1),
    'The longest request that a runtime takes, in bytes; read by the runtime.',
    '16777216',
  ),
  ASYA_RESILIENCY_ACTOR_TIMEOUT: setting(positiveDuration, 'How long one call may take.', '5m'),
  ASYA_RESILIENCY_POLICIES: unset(text, 'Policies by name, a JSON object.', 'none'),
  ASYA_RESILIENCY_RULES: unset(text, 'Which error gets which policy, a JSON array.', 'none'),
  ASYA_RESILIENCY_FILE: unset(text, 'A file with both: `{"policies":{...},"rules":[...]}`.', 'none'),
  ASYA_ACTOR_SINK: setting(actorName, 'The end of every route.', 'x-sink'),
  ASYA_ACTOR_SUMP: setting(actorName, 'Where x-sink forwards what failed; read by x-sink alone.', 'x-sump'),
  ASYA_IS_END_ACTOR: setting(flag, 'Nothing follows this actor: its answers are discarded.', 'false'),
  ASYA_FANOUT: setting(
    oneOf('array', 'never'),
    '`array`: each item of an array goes on by itself. `never`: an array is one value.',
    'array',
  ),
  ASYA_MAX_HOPS: setting(wholeNumber(1), 'How many actors an envelope may pass: a loop must end.', '100'),
  ASYA_ROUTE_ALLOW: emptyMeans(
    unset(listOf(actorName), 'Actors that a handler may put into the route.', 'anyone'),
    'nobody',
  ),
  ASYA_CONCURRENCY: setting(wholeNumber(1), 'Calls at once.', '1'),
  ASYA_GATEWAY_URL: unset(url('http', 'https'), 'Where progress is reported.', 'nowhere'),
  ASYA_GATEWAY_SECRET: unset(
    secret,
    "The mesh's secret that reports to the gateway are signed with: the same one for the gateway, sidecars and crew.",
    'reports are not signed, and the gateway takes none',
  ),
  ASYA_GATEWAY_KEYS: unset(
    hiddenText,
    "Who may call the gateway: a JSON array of `{id, sha256, flows?, expires_at?}`, the hash that of the caller's key.",
    'nobody with a key',
  ),
  ASYA_GATEWAY_KEYS_FILE: unset(text, 'A file with the same.', 'none'),
  ASYA_GATEWAY_JWT_ISSUER: unset(text, 'Whose tokens (JWT) the gateway takes.', "nobody's"),
  ASYA_GATEWAY_JWT_AUDIENCE: unset(text, 'Whom such a token must be for.', 'none'),
  ASYA_GATEWAY_JWKS_URL: unset(keysUrl, "Where that issuer's public keys are.", 'none'),
  ASYA_GATEWAY_ORIGINS: setting(
    listOf(text),
    'Web pages that may call the gateway by MCP, as origins; programs that are no browsers send none, and always may.',
    '',
  ),
  ASYA_GATEWAY_FLOWS_FILE: unset(text, "The gateway's `flows.yaml`. Required there.", 'none'),
  ASYA_GATEWAY_PORT: setting(
    wholeNumber(0, 65_535),
    'Where the gateway listens; read where it is a server of its own. 0: any free port.',
    '8080',
  ),
  ASYA_GATEWAY_PUBLIC_URL: unset(
    url('http', 'https'),
    'Where clients reach the gateway, for its agent card. Needed behind a proxy that ends TLS.',
    'where the request went, by its Host',
  ),
  ASYA_GATEWAY_RATE: setting(
    wholeNumber(1),
    'Requests a second that the gateway takes from one caller.',
    '50',
  ),
  ASYA_PUSH_AUTH: setting(
    pushAuth,
    "Read by the host on Cloud Run, as the others of its name. `oidc`: a push needs a token of Google's, whose signature is checked here. `iam`: the same, but Cloud Run asks for authentication itself, and takes the signature out. `none`: anybody may push, for an emulator, which sends no token.",
    'oidc',
  ),
  ASYA_PUSH_AUDIENCE: unset(text, 'Whom the token of a push must be for. Required unless `none`.', 'none'),
  ASYA_PUSH_SERVICE_ACCOUNT: unset(
    serviceAccount,
    'The service account that subscriptions push as. Required unless `none`.',
    'none',
  ),
  ASYA_PUSH_JWKS_URL: unset(keysUrl, 'Where the keys are that those tokens are signed with.', "Google's"),
  ASYA_PUSH_ACK_DEADLINE: setting(
    wholeNumber(MIN_ACK_DEADLINE_SECONDS, MAX_ACK_DEADLINE_SECONDS),
    "For how many seconds a push is waited for: the subscription's ack deadline.",
    '600',
  ),
  ASYA_PUSH_PORT: unset(
    wholeNumber(0, 65_535),
    'Where pushes are taken. 0: any free port.',
    '`PORT`, which Cloud Run sets, then 8080',
  ),
  ASYA_ARCHIVE_BUCKET: unset(
    text,
    'S3 bucket in which x-sink and x-dlq store whole envelopes. Required by the crew, `asya failures` and `asya replay`; x-sink, x-sump and x-dlq without storage are ordinary end actors.',
    'none',
  ),
  ASYA_ARCHIVE_KMS_KEY: unset(text, 'The key that the archive is encrypted with.', "S3's own keys"),
  ASYA_FAILURE_TABLE: unset(
    text,
    'The table of ends and failures. Required by the crew, `asya failures` and `asya replay`.',
    'none',
  ),
  ASYA_S3_ENDPOINT: unset(url('http', 'https'), "Another S3 than the region's.", "the region's"),
  ASYA_DYNAMODB_ENDPOINT: unset(url('http', 'https'), "Another DynamoDB than the region's.", "the region's"),
  ASYA_DEAD_LETTERS_OF: setting(
    listOf(actorName),
    'The actors whose dead-letter queues x-dlq drains; read by x-dlq where it is a long-running worker.',
    '',
  ),
  ASYA_SQS_ENDPOINT: unset(url('http', 'https'), "Another SQS than the region's.", "the region's"),
  ASYA_AWS_REGION: unset(text, 'The region.', '`AWS_REGION`, then `us-east-1`'),
  ASYA_SQS_VISIBILITY_TIMEOUT: unset(
    wholeNumber(1, MAX_VISIBILITY_SECONDS),
    'For how many seconds a delivery is hidden from others; longer than the actor timeout.',
    "twice the actor's timeout",
  ),
  ASYA_SQS_WAIT_TIME_SECONDS: setting(wholeNumber(0, 20), 'How long a poll waits for a message.', '20'),
  ASYA_PUBSUB_PROJECT_ID: unset(text, "Google Cloud's project.", 'none'),
  ASYA_PUBSUB_ENDPOINT: unset(
    hostAndPort,
    "Another Pub/Sub than Google's: an emulator, unless it is one of `googleapis.com`'s.",
    "`PUBSUB_EMULATOR_HOST`, then Google's",
  ),
  ASYA_PUBSUB_DELAYER_TOPIC: setting(
    text,
    "The delayer's topic, where messages go that are to arrive later.",
    DEFAULT_DELAYER_TOPIC,
  ),
  ASYA_RABBITMQ_URL: setting(url('amqp', 'amqps'), 'The broker.', 'amqp://guest:guest@localhost:5672/'),
  ASYA_RABBITMQ_EXCHANGE: setting(text, 'The topic exchange.', 'asya'),
  ASYA_RABBITMQ_PREFETCH: setting(
    wholeNumber(1, 65_535),
    'Deliveries held at once, those in work included; never fewer than `ASYA_CONCURRENCY`.',
    '1',
  ),
  ASYA_RABBITMQ_DELAY: setting(
    oneOf('none', 'ttl'),
    '`ttl`: delays through queues whose messages expire. `none`: a retry ends at x-sink.',
    'none',
  ),
  ASYA_QUEUE_RETRY_MAX_ATTEMPTS: setting(
    wholeNumber(1),
    'How often a missing queue is looked for, or created with `ASYA_QUEUE_AUTO_CREATE`, before the sidecar gives up.',
    '10',
  ),
  ASYA_QUEUE_RETRY_BACKOFF: setting(positiveDuration, 'The first pause between two looks; it doubles.', '1s'),
  ASYA_QUEUE_AUTO_CREATE: setting(
    flag,
    'Creates missing queues with their dead-letter queues: its own, and those that it sends to. An existing queue is checked every 5 minutes; attributes that differ are logged.',
    'false',
  ),
  ASYA_METRICS_ADDR: emptyMeans(
    setting(listenAddress, 'Where metrics and health are served.', ':9090'),
    'off',
  ),
  ASYA_LOG_LEVEL: setting(oneOf('debug', 'info', 'warn', 'error'), 'The least that is logged.', 'info'),
  ASYA_GRACE_PERIOD: setting(
    duration,
    'How long what is in flight may take when the sidecar is told to stop.',
    '30s',
  ),
} as const;

export type SettingName = keyof typeof SETTINGS;

/** The value that a variable's text becomes. */
export type SettingValue<Name extends SettingName> =
  (typeof SETTINGS)[Name] extends Setting<infer T> ? T : never;
