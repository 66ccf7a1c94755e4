import type { Crew } from '../../core/delivery/actor.ts';
import { isCrewName, isRoutableName } from '../../core/envelope/actor-name.ts';
import { durationText } from '../../core/text/duration.ts';
import type { Mistake } from '../../core/text/mistake.ts';
import { crewRole } from './crew-role.ts';
import { noteUnfitTopicName, readPubsub } from './pubsub-settings.ts';
import { deadLetterQueueName, MAX_QUEUE_NAME, queueName } from './queue-name.ts';
import { noteUnknownVariables, readSettings, type SettingValues } from './read-settings.ts';
import { type ReadFile, readResiliency } from './resiliency.ts';
import { SETTINGS } from './settings.ts';
import { defaultVisibilitySeconds, type SidecarConfig, type TransportName } from './sidecar-config.ts';
import { type Environment, setVariables } from './variables.ts';

export type ConfigReading =
  | { readonly config: SidecarConfig }
  /** Every mistake there is, not only the first. */
  | { readonly mistakes: readonly [Mistake, ...Mistake[]] };

/** The whole environment at once. Nothing falls back in silence: what is wrong stops the start. */
export function readEnvironment(env: Environment, readFile: ReadFile): ConfigReading {
  const mistakes: Mistake[] = [];
  const config = readConfig(setVariables(SETTINGS, env), readFile, mistakes);
  const [first, ...others] = mistakes;
  return first === undefined ? { config } : { mistakes: [first, ...others] };
}

/** Where mistakes are noted, what is returned holds stand-ins and is not for use. */
function readConfig(env: Environment, readFile: ReadFile, mistakes: Mistake[]): SidecarConfig {
  noteUnknownVariables('ASYA_', SETTINGS, env, mistakes);
  const values = readSettings(SETTINGS, env, mistakes);
  const name = requiredActorName(env, values.ASYA_ACTOR_NAME, mistakes);
  const namespace = values.ASYA_NAMESPACE;
  const timeoutMs = values.ASYA_RESILIENCY_ACTOR_TIMEOUT ?? 0;
  const routeAllow = readRouteAllow(values.ASYA_ROUTE_ALLOW, mistakes);
  const policies = values.ASYA_RESILIENCY_POLICIES;
  const rules = values.ASYA_RESILIENCY_RULES;
  const file = values.ASYA_RESILIENCY_FILE;
  const resiliency = readResiliency(
    { ...present({ policies }), ...present({ rules }), ...present({ file }) },
    readFile,
    mistakes,
  );
  const transport = readTransport(env, values.ASYA_TRANSPORT, mistakes);
  if (transport === 'sqs') noteLongQueueName(name, namespace, mistakes);
  if (transport === 'pubsub' && name !== '') noteUnfitTopicName(name, namespace, mistakes);
  return {
    actor: {
      name,
      sink: readSink(values.ASYA_ACTOR_SINK, name, mistakes),
      isEnd: (values.ASYA_IS_END_ACTOR ?? false) || isCrewName(name),
      ...present({ crew: crewOf(name, values) }),
      timeoutMs,
      maxHops: values.ASYA_MAX_HOPS ?? 0,
      fanOut: values.ASYA_FANOUT ?? 'array',
      ...present({ routeAllow }),
      resiliency,
    },
    ...present({ namespace }),
    sump: values.ASYA_ACTOR_SUMP ?? '',
    transport,
    runtime: {
      address: values.ASYA_RUNTIME_URL ?? { kind: 'socket', path: values.ASYA_SOCKET_PATH ?? '' },
      protocol: values.ASYA_RUNTIME_PROTOCOL ?? 'payload',
      ...present({ command: values.ASYA_RUNTIME_COMMAND }),
      ...present({ startupTimeoutMs: values.ASYA_RUNTIME_STARTUP_TIMEOUT }),
      passEnv: values.ASYA_RUNTIME_PASS_ENV ?? [],
      maxResponseBytes: values.ASYA_RUNTIME_MAX_RESPONSE ?? 0,
      concurrency: values.ASYA_CONCURRENCY ?? 0,
    },
    ...present({ gatewayUrl: values.ASYA_GATEWAY_URL }),
    ...present({ gatewaySecret: values.ASYA_GATEWAY_SECRET }),
    gateway: {
      ...present({ keys: values.ASYA_GATEWAY_KEYS }),
      ...present({ keysFile: values.ASYA_GATEWAY_KEYS_FILE }),
      ...present({ issuer: values.ASYA_GATEWAY_JWT_ISSUER }),
      ...present({ audience: values.ASYA_GATEWAY_JWT_AUDIENCE }),
      ...present({ jwksUrl: values.ASYA_GATEWAY_JWKS_URL }),
      ...present({ flowsFile: values.ASYA_GATEWAY_FLOWS_FILE }),
      ...present({ publicUrl: values.ASYA_GATEWAY_PUBLIC_URL }),
      origins: values.ASYA_GATEWAY_ORIGINS ?? [],
      port: values.ASYA_GATEWAY_PORT ?? 0,
      ratePerSecond: values.ASYA_GATEWAY_RATE ?? 0,
    },
    push: {
      auth: values.ASYA_PUSH_AUTH ?? 'oidc',
      ...present({ audience: values.ASYA_PUSH_AUDIENCE }),
      ...present({ serviceAccount: values.ASYA_PUSH_SERVICE_ACCOUNT }),
      ...present({ jwksUrl: values.ASYA_PUSH_JWKS_URL }),
      ackDeadlineSeconds: values.ASYA_PUSH_ACK_DEADLINE ?? 0,
      ...present({ port: values.ASYA_PUSH_PORT }),
    },
    storage: {
      ...present({ bucket: values.ASYA_ARCHIVE_BUCKET }),
      ...present({ kmsKey: values.ASYA_ARCHIVE_KMS_KEY }),
      ...present({ table: values.ASYA_FAILURE_TABLE }),
      ...present({ s3Endpoint: values.ASYA_S3_ENDPOINT }),
      ...present({ dynamoDbEndpoint: values.ASYA_DYNAMODB_ENDPOINT }),
    },
    deadLettersOf: values.ASYA_DEAD_LETTERS_OF ?? [],
    sqs: {
      ...present({ endpoint: values.ASYA_SQS_ENDPOINT }),
      region: values.ASYA_AWS_REGION ?? (env['AWS_REGION'] || 'us-east-1'),
      visibilitySeconds: readVisibility(values.ASYA_SQS_VISIBILITY_TIMEOUT, timeoutMs, transport, mistakes),
      waitSeconds: values.ASYA_SQS_WAIT_TIME_SECONDS ?? 0,
    },
    pubsub: readPubsub(values, transport === 'pubsub', env['PUBSUB_EMULATOR_HOST'], mistakes),
    rabbitmq: {
      url: values.ASYA_RABBITMQ_URL ?? '',
      exchange: values.ASYA_RABBITMQ_EXCHANGE ?? '',
      prefetch: values.ASYA_RABBITMQ_PREFETCH ?? 0,
      delay: values.ASYA_RABBITMQ_DELAY ?? 'none',
    },
    queues: {
      retryMaxAttempts: values.ASYA_QUEUE_RETRY_MAX_ATTEMPTS ?? 0,
      retryBackoffMs: values.ASYA_QUEUE_RETRY_BACKOFF ?? 0,
      autoCreate: values.ASYA_QUEUE_AUTO_CREATE ?? false,
    },
    ...present({ metrics: values.ASYA_METRICS_ADDR }),
    logLevel: values.ASYA_LOG_LEVEL ?? 'info',
    gracePeriodMs: values.ASYA_GRACE_PERIOD ?? 0,
  };
}

type Values = SettingValues<typeof SETTINGS>;

function requiredActorName(env: Environment, name: string | undefined, mistakes: Mistake[]): string {
  if (env['ASYA_ACTOR_NAME'] === undefined) {
    mistakes.push({
      place: 'ASYA_ACTOR_NAME',
      problem: 'is not set; it names the actor, for example "score"',
    });
  }
  return name ?? '';
}

/**
 * x-sink, x-sump and x-dlq are the built-in crew if their storage is configured. Without storage, or with a runtime
 * of their own, they are ordinary end actors.
 */
function crewOf(name: string, values: Values): Crew | undefined {
  const hasRuntime = values.ASYA_RUNTIME_COMMAND !== undefined || values.ASYA_RUNTIME_URL !== undefined;
  const hasStorage = values.ASYA_ARCHIVE_BUCKET !== undefined || values.ASYA_FAILURE_TABLE !== undefined;
  if (hasRuntime || !hasStorage) return undefined;
  return crewRole(name, values.ASYA_ACTOR_SUMP ?? '', values.ASYA_NAMESPACE);
}

function noteLongQueueName(actor: string, namespace: string | undefined, mistakes: Mistake[]): void {
  const longest = deadLetterQueueName(queueName(actor, namespace));
  if (longest.length > MAX_QUEUE_NAME) {
    const problem = `makes a queue's name of ${longest.length} characters, "${longest}"; ${MAX_QUEUE_NAME} are allowed`;
    mistakes.push({ place: 'ASYA_NAMESPACE', problem });
  }
}

/** What fails would come back to the actor it failed at, for ever. */
function readSink(sink: string | undefined, actor: string, mistakes: Mistake[]): string {
  if (sink === actor && !isCrewName(actor)) {
    mistakes.push({
      place: 'ASYA_ACTOR_SINK',
      problem: `is "${sink}", this actor itself; name the end of the route`,
    });
  }
  return sink ?? '';
}

function readRouteAllow(
  names: readonly string[] | undefined,
  mistakes: Mistake[],
): ReadonlySet<string> | undefined {
  const crew = names?.find((name) => !isRoutableName(name));
  if (crew !== undefined) {
    mistakes.push({
      place: 'ASYA_ROUTE_ALLOW',
      problem: `names "${crew}"; the mesh's own actors stand in no route`,
    });
  }
  return names === undefined ? undefined : new Set(names);
}

/** Unset, it is told by what else is set: an SQS endpoint, a RabbitMQ URL, a Pub/Sub project. */
function readTransport(
  env: Environment,
  named: TransportName | undefined,
  mistakes: Mistake[],
): TransportName {
  if (named !== undefined || env['ASYA_TRANSPORT'] !== undefined) return named ?? 'sqs';
  const hasRabbit = env['ASYA_RABBITMQ_URL'] !== undefined;
  const hasPubSub = env['ASYA_PUBSUB_PROJECT_ID'] !== undefined;
  if (env['ASYA_SQS_ENDPOINT'] !== undefined || (!hasRabbit && !hasPubSub)) return 'sqs';
  if (hasRabbit && hasPubSub) {
    const problem =
      'is not set, and ASYA_RABBITMQ_URL and ASYA_PUBSUB_PROJECT_ID both are; say rabbitmq or pubsub';
    mistakes.push({ place: 'ASYA_TRANSPORT', problem });
  }
  return hasRabbit ? 'rabbitmq' : 'pubsub';
}

/** Must be longer than the actor timeout, or the broker would redeliver what is still being processed. */
function readVisibility(
  seconds: number | undefined,
  timeoutMs: number,
  transport: TransportName,
  mistakes: Mistake[],
): number {
  const visibilitySeconds = seconds ?? defaultVisibilitySeconds(timeoutMs);
  // The timeout itself is a mistake, which is noted already.
  if (timeoutMs === 0) return visibilitySeconds;
  if (visibilitySeconds * 1000 <= timeoutMs && (seconds !== undefined || transport === 'sqs')) {
    const place = seconds === undefined ? 'ASYA_RESILIENCY_ACTOR_TIMEOUT' : 'ASYA_SQS_VISIBILITY_TIMEOUT';
    const problem =
      seconds === undefined
        ? `is ${durationText(timeoutMs)}; it must be shorter than 12h, the longest visibility timeout of SQS`
        : `is ${seconds} seconds; it must be longer than ASYA_RESILIENCY_ACTOR_TIMEOUT (${durationText(timeoutMs)}), ideally twice as long`;
    mistakes.push({ place, problem });
  }
  return visibilitySeconds;
}

/** The keys whose values are there. */
function present<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
