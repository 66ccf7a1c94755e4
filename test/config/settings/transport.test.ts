import { describe, expect, it } from 'vitest';
import { configOf, refusalOf } from '../an-environment.ts';

const RABBIT = { ASYA_RABBITMQ_URL: 'amqp://rabbit/' };
const PUBSUB = { ASYA_PUBSUB_PROJECT_ID: 'p' };
const SQS = { ASYA_SQS_ENDPOINT: 'http://127.0.0.1:4566' };

describe('the transport', () => {
  it.each([
    ['nothing set', {}, 'sqs'],
    ['only the URL of RabbitMQ', RABBIT, 'rabbitmq'],
    ['only the project of Pub/Sub', PUBSUB, 'pubsub'],
    ['an endpoint of SQS', SQS, 'sqs'],
    ['an endpoint of SQS besides RabbitMQ', { ...SQS, ...RABBIT }, 'sqs'],
    ['an endpoint of SQS besides Pub/Sub', { ...SQS, ...PUBSUB }, 'sqs'],
    ['all of them', { ...SQS, ...RABBIT, ...PUBSUB }, 'sqs'],
    ['ASYA_TRANSPORT and other settings', { ASYA_TRANSPORT: 'sqs', ...RABBIT, ...PUBSUB }, 'sqs'],
    ['ASYA_TRANSPORT=rabbitmq', { ASYA_TRANSPORT: 'rabbitmq', ...SQS, ...PUBSUB }, 'rabbitmq'],
    ['ASYA_TRANSPORT=pubsub', { ASYA_TRANSPORT: 'pubsub', ...SQS, ...RABBIT, ...PUBSUB }, 'pubsub'],
    ['only an exchange', { ASYA_RABBITMQ_EXCHANGE: 'mesh' }, 'sqs'],
    ['only an emulator of Pub/Sub', { ASYA_PUBSUB_ENDPOINT: '127.0.0.1:8085' }, 'sqs'],
  ])('with %s', (_what, env, transport) => {
    expect(configOf(env).transport).toBe(transport);
  });

  it('must be set if two transports are possible', () => {
    expect(refusalOf({ ...RABBIT, ...PUBSUB })).toEqual([
      'ASYA_TRANSPORT: is not set, and both ASYA_PUBSUB_PROJECT_ID and ASYA_RABBITMQ_URL are; set it to pubsub or rabbitmq',
    ]);
  });

  it('requires a project for Pub/Sub', () => {
    expect(refusalOf({ ASYA_TRANSPORT: 'pubsub' })).toEqual([
      'ASYA_PUBSUB_PROJECT_ID: is not set; ASYA_TRANSPORT=pubsub requires it',
    ]);
  });

  it("uses Google's variable for the emulator unless ours sets another endpoint", () => {
    const env = { ...PUBSUB, PUBSUB_EMULATOR_HOST: 'localhost:8085' };
    expect(configOf(env).pubsub.endpoint).toBe('localhost:8085');
    expect(configOf({ ...env, ASYA_PUBSUB_ENDPOINT: '127.0.0.1:1' }).pubsub.endpoint).toBe('127.0.0.1:1');
    expect(configOf({ ...PUBSUB, PUBSUB_EMULATOR_HOST: '' }).pubsub.endpoint).toBeUndefined();
    expect(configOf({ PUBSUB_EMULATOR_HOST: 'whatever' }).pubsub.endpoint).toBeUndefined();
    expect(refusalOf({ ...PUBSUB, PUBSUB_EMULATOR_HOST: 'localhost' })).toEqual([
      'PUBSUB_EMULATOR_HOST: is "localhost"; expected host:port, such as "127.0.0.1:8085"',
    ]);
  });

  it.each(['ab', '3d-model', 'google'])('%s is not valid as a topic name', (name) => {
    expect(refusalOf({ ...PUBSUB, ASYA_ACTOR_NAME: name })).toEqual([
      expect.stringMatching(`^ASYA_ACTOR_NAME: .*"${name}", which Pub/Sub rejects.*with ASYA_NAMESPACE`),
    ]);
    expect(configOf({ ...PUBSUB, ASYA_ACTOR_NAME: name, ASYA_NAMESPACE: 'prod' }).actor.name).toBe(name);
    expect(configOf({ ASYA_ACTOR_NAME: name }).actor.name).toBe(name);
  });
});
