import { resiliencyInput } from '../../core/policy/resiliency-input.ts';
import type { Setting } from './setting.ts';
import { SETTINGS, type SettingName, type SettingValue } from './settings.ts';
import { defaultVisibilitySeconds, type SidecarConfig } from './sidecar-config.ts';

export interface WrittenEnvironment {
  readonly variables: Readonly<Record<string, string>>;
  /** What the file that `ASYA_RESILIENCY_FILE` names has to hold, where one was asked for. */
  readonly resiliencyFile?: string;
}

type Values = { readonly [Name in SettingName]?: SettingValue<Name> | undefined };

/**
 * The inverse of reading: an environment that means this configuration. What is the default anyway is left out,
 * because Lambda's environment holds 4 KB in all; a file for the policies keeps them out of it too.
 */
export function writeEnvironment(config: SidecarConfig, resiliencyPath?: string): WrittenEnvironment {
  const { policies, rules } = resiliencyInput(config.actor.resiliency);
  const values: Values = {
    ...valuesOf(config),
    ...(resiliencyPath === undefined
      ? {
          ASYA_RESILIENCY_POLICIES: Object.keys(policies).length === 0 ? undefined : JSON.stringify(policies),
          ASYA_RESILIENCY_RULES: rules.length === 0 ? undefined : JSON.stringify(rules),
        }
      : { ASYA_RESILIENCY_FILE: resiliencyPath }),
  };
  const metrics = SETTINGS.ASYA_METRICS_ADDR;
  const metricsText = metrics.write(config.metrics);
  const variables = Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => {
      const text = value === undefined ? undefined : textOf(name as SettingName, value);
      return text === undefined ? [] : [[name, text]];
    }),
  );
  if (metricsText !== metrics.fallback) variables['ASYA_METRICS_ADDR'] = metricsText;
  return resiliencyPath === undefined
    ? { variables }
    : { variables, resiliencyFile: JSON.stringify({ policies, rules }) };
}

/** Undefined where it says no more than the default. */
function textOf(name: SettingName, value: unknown): string | undefined {
  const setting = SETTINGS[name] as Setting<unknown>;
  const text = setting.write(value);
  return text === setting.fallback ? undefined : text;
}

function valuesOf(config: SidecarConfig): Values {
  const { actor, runtime, sqs, pubsub, rabbitmq, queues, gateway, push } = config;
  const visibilitySeconds =
    sqs.visibilitySeconds === defaultVisibilitySeconds(actor.timeoutMs) ? undefined : sqs.visibilitySeconds;
  return {
    ASYA_ACTOR_NAME: actor.name,
    ASYA_NAMESPACE: config.namespace,
    ASYA_TRANSPORT: config.transport,
    // The crew has no runtime, which is how it is known.
    ASYA_RUNTIME_URL: actor.crew === undefined ? runtime.address : undefined,
    ASYA_RUNTIME_PROTOCOL: runtime.protocol,
    ASYA_RUNTIME_COMMAND: runtime.command,
    ASYA_RUNTIME_STARTUP_TIMEOUT: runtime.startupTimeoutMs,
    ASYA_RUNTIME_PASS_ENV: runtime.passEnv,
    ASYA_RUNTIME_MAX_RESPONSE: runtime.maxResponseBytes,
    ASYA_RESILIENCY_ACTOR_TIMEOUT: actor.timeoutMs,
    ASYA_ACTOR_SINK: actor.sink,
    ASYA_ACTOR_SUMP: config.sump,
    ASYA_IS_END_ACTOR: actor.isEnd,
    ASYA_FANOUT: actor.fanOut,
    ASYA_MAX_HOPS: actor.maxHops,
    ASYA_ROUTE_ALLOW: actor.routeAllow === undefined ? undefined : [...actor.routeAllow],
    ASYA_CONCURRENCY: runtime.concurrency,
    ASYA_GATEWAY_URL: config.gatewayUrl,
    ASYA_GATEWAY_SECRET: config.gatewaySecret,
    ASYA_GATEWAY_KEYS: gateway.keys,
    ASYA_GATEWAY_KEYS_FILE: gateway.keysFile,
    ASYA_GATEWAY_JWT_ISSUER: gateway.issuer,
    ASYA_GATEWAY_JWT_AUDIENCE: gateway.audience,
    ASYA_GATEWAY_JWKS_URL: gateway.jwksUrl,
    ASYA_GATEWAY_FLOWS_FILE: gateway.flowsFile,
    ASYA_GATEWAY_ORIGINS: gateway.origins,
    ASYA_GATEWAY_PORT: gateway.port,
    ASYA_GATEWAY_PUBLIC_URL: gateway.publicUrl,
    ASYA_GATEWAY_RATE: gateway.ratePerSecond,
    ASYA_PUSH_AUTH: push.auth,
    ASYA_PUSH_AUDIENCE: push.audience,
    ASYA_PUSH_SERVICE_ACCOUNT: push.serviceAccount,
    ASYA_PUSH_JWKS_URL: push.jwksUrl,
    ASYA_PUSH_ACK_DEADLINE: push.ackDeadlineSeconds,
    ASYA_PUSH_PORT: push.port,
    ASYA_ARCHIVE_BUCKET: config.storage.bucket,
    ASYA_ARCHIVE_KMS_KEY: config.storage.kmsKey,
    ASYA_FAILURE_TABLE: config.storage.table,
    ASYA_S3_ENDPOINT: config.storage.s3Endpoint,
    ASYA_DYNAMODB_ENDPOINT: config.storage.dynamoDbEndpoint,
    ASYA_DEAD_LETTERS_OF: config.deadLettersOf,
    ASYA_SQS_ENDPOINT: sqs.endpoint,
    ASYA_AWS_REGION: sqs.region,
    ASYA_SQS_VISIBILITY_TIMEOUT: visibilitySeconds,
    ASYA_SQS_WAIT_TIME_SECONDS: sqs.waitSeconds,
    ASYA_PUBSUB_PROJECT_ID: pubsub.projectId,
    ASYA_PUBSUB_ENDPOINT: pubsub.endpoint,
    ASYA_PUBSUB_DELAYER_TOPIC: pubsub.delayerTopic,
    ASYA_RABBITMQ_URL: rabbitmq.url,
    ASYA_RABBITMQ_EXCHANGE: rabbitmq.exchange,
    ASYA_RABBITMQ_PREFETCH: rabbitmq.prefetch,
    ASYA_RABBITMQ_DELAY: rabbitmq.delay,
    ASYA_QUEUE_RETRY_MAX_ATTEMPTS: queues.retryMaxAttempts,
    ASYA_QUEUE_RETRY_BACKOFF: queues.retryBackoffMs,
    ASYA_QUEUE_AUTO_CREATE: queues.autoCreate,
    ASYA_LOG_LEVEL: config.logLevel,
    ASYA_GRACE_PERIOD: config.gracePeriodMs,
  };
}
