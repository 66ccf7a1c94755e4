import { describe, expect, it } from 'vitest';
import {
  readGatewayConfig,
  readOperatorConfig,
  readPushConfig,
  readSidecarConfig,
} from '../../../lib/config/settings/read-host-config.ts';
import { configOf, noFile } from '../an-environment.ts';

const ENV = {
  ASYA_ACTOR_NAME: 'score',
  ASYA_NAMESPACE: 'prod',
  ASYA_GATEWAY_URL: 'https://gateway',
  ASYA_GATEWAY_SECRET: 's'.repeat(32),
};
const { gateway, push, ...sidecar } = configOf(ENV);
const { actor, runtime, namespace, transport, sqs, pubsub, rabbitmq, storage } = sidecar;
const broker = {
  actor: { name: actor.name, timeoutMs: actor.timeoutMs },
  runtime: { concurrency: runtime.concurrency },
  namespace,
  transport,
  sqs,
  pubsub,
  rabbitmq,
};

describe('the configuration of a host', () => {
  it.each([
    ['the sidecar has neither gateway nor push', readSidecarConfig, sidecar],
    ['Cloud Run has push too', readPushConfig, { ...sidecar, push }],
    [
      'the gateway has no runtime and no processing',
      readGatewayConfig,
      { ...broker, gateway, gatewaySecret: sidecar.gatewaySecret, storage, logLevel: 'info' },
    ],
    ['the operator has the broker and the storage', readOperatorConfig, { ...broker, storage }],
  ])('%s', (_what, read, config) => {
    expect(read(ENV, noFile)).toStrictEqual({ config });
  });

  it.each([readSidecarConfig, readPushConfig, readGatewayConfig, readOperatorConfig])(
    'reports mistakes also in settings of other hosts',
    (read) => {
      const reading = read({ ...ENV, ASYA_PUSH_PORT: 'x', ASYA_GATEWAY_RATE: '0', ASYA_FANOUT: 'x' }, noFile);
      const places = 'mistakes' in reading ? reading.mistakes.map(({ place }) => place) : [];
      expect(places.sort()).toEqual(['ASYA_FANOUT', 'ASYA_GATEWAY_RATE', 'ASYA_PUSH_PORT']);
    },
  );
});
