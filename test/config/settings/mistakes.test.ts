import { describe, expect, it } from 'vitest';
import { readEnvironment } from '../../../lib/config/settings/environment.ts';
import { deadLetterQueueName, MAX_QUEUE_NAME, queueName } from '../../../lib/config/settings/queue-name.ts';
import { mistakesText } from '../../../lib/core/text/mistake.ts';
import { configOf, noFile, refusalOf } from '../an-environment.ts';

describe("the actor's name", () => {
  it('is required', () => {
    const reading = readEnvironment({}, noFile);
    expect('mistakes' in reading && mistakesText(reading.mistakes)).toBe(
      'ASYA_ACTOR_NAME: is not set; expected the name of the actor, for example "score"',
    );
  });

  it('is reported once if it is empty', () => {
    expect(refusalOf({ ASYA_ACTOR_NAME: '' })).toHaveLength(1);
  });
});

describe('an unknown variable', () => {
  it.each([
    ['ASYA_ACTOR_NAM', 'ASYA_ACTOR_NAME'],
    ['ASYA_ACTORNAME', 'ASYA_ACTOR_NAME'],
    ['ASYA_RESILIENCY_POLICY', 'ASYA_RESILIENCY_POLICIES'],
    ['ASYA_RESILIENCY_RULE', 'ASYA_RESILIENCY_RULES'],
    ['ASYA_MAXHOPS', 'ASYA_MAX_HOPS'],
    ['ASYA_FAN_OUT', 'ASYA_FANOUT'],
    ['ASYA_LOGLEVEL', 'ASYA_LOG_LEVEL'],
    ['ASYA_max_hops', 'ASYA_MAX_HOPS'],
  ])('%s is rejected, and %s suggested', (name, suggestion) => {
    expect(refusalOf({ [name]: 'x' })).toEqual([
      `${name}: is not a known setting; did you mean "${suggestion}"?`,
    ]);
  });

  it.each(['ASYA', 'asya_max_hop', 'MY_ASYA_THING', 'PATH', 'toString', 'ASYAN_TRAVEL'])(
    '%s is ignored',
    (name) => {
      expect(refusalOf({ [name]: 'x' })).toEqual([]);
    },
  );

  it('may have the name of an Object property', () => {
    expect(refusalOf({ ASYA_constructor: 'x' })).toHaveLength(1);
  });
});

describe('all mistakes at once', () => {
  it('are reported in one line each', () => {
    const lines = refusalOf({
      ASYA_ACTOR_NAME: 'Score',
      ASYA_NAMESPACE: '-',
      ASYA_TRANSPORT: 'kafka',
      ASYA_MAX_HOPS: 'many',
      ASYA_FANOUT: 'sometimes',
      ASYA_LOG_LEVEL: 'loud',
      ASYA_GRACE_PERIOD: '-1s',
      ASYA_METRICS_ADDR: 'here',
      ASYA_RUNTIME_URL: 'there',
      ASYA_IS_END_ACTOR: 'perhaps',
      ASYA_NONESUCH: '1',
      ASYA_RESILIENCY_POLICIES: '{"default":{"maxAttempts":-1},"slow":{"backoff":"slow"}}',
      ASYA_RESILIENCY_RULES: '[{"errors":[],"policy":"fast"}]',
    });
    expect(lines.map((line) => line.split(':')[0]).sort()).toEqual([
      'ASYA_ACTOR_NAME',
      'ASYA_FANOUT',
      'ASYA_GRACE_PERIOD',
      'ASYA_IS_END_ACTOR',
      'ASYA_LOG_LEVEL',
      'ASYA_MAX_HOPS',
      'ASYA_METRICS_ADDR',
      'ASYA_NAMESPACE',
      'ASYA_NONESUCH',
      'ASYA_RESILIENCY_POLICIES.default.maxAttempts',
      'ASYA_RESILIENCY_POLICIES.slow.backoff',
      'ASYA_RESILIENCY_RULES[0].errors',
      'ASYA_RESILIENCY_RULES[0].policy',
      'ASYA_RUNTIME_URL',
      'ASYA_TRANSPORT',
    ]);
  });

  it('do not cause further mistakes', () => {
    expect(refusalOf({ ASYA_RESILIENCY_ACTOR_TIMEOUT: 'x', ASYA_SQS_VISIBILITY_TIMEOUT: '5' })).toHaveLength(
      1,
    );
    expect(
      refusalOf({ ASYA_TRANSPORT: 'x', ASYA_RABBITMQ_URL: 'amqp://a', ASYA_PUBSUB_PROJECT_ID: 'p' }),
    ).toHaveLength(1);
  });
});

describe('the sink', () => {
  it('must not be the actor', () => {
    expect(refusalOf({ ASYA_ACTOR_SINK: 'score' })).toEqual([
      'ASYA_ACTOR_SINK: is "score", which is this actor; expected the actor at the end of the route',
    ]);
  });

  it('may be the actor for the crew', () => {
    expect(refusalOf({ ASYA_ACTOR_NAME: 'x-sink' })).toEqual([]);
  });
});

describe('a password', () => {
  it.each([
    ['http://user:secret@rabbit/', '"http://***@rabbit/"'],
    ['amq://secret@rabbit', '"amq://***@rabbit"'],
    ['http://user:sec@ret@rabbit/', '"http://***@rabbit/"'],
    ['amqp://user:sec/ret@rabbit/', '"amqp://***@rabbit/"'],
    ['amqp://user:sec ret#@rabbit/', '"amqp://***@rabbit/"'],
    ['user:secret@rabbit:5672', '"***@rabbit:5672"'],
    ['rabbit/a@b', '"rabbit/a@b"'],
  ])('is not printed: %s', (url, shown) => {
    expect(refusalOf({ ASYA_RABBITMQ_URL: url })).toEqual([
      expect.stringContaining(`ASYA_RABBITMQ_URL: is ${shown}; expected a URL like "amqp://host:port"`),
    ]);
  });

  it('that breaks a URL is reported with the escapes', () => {
    const [mistake] = refusalOf({ ASYA_RABBITMQ_URL: 'amqp://user:sec/ret@rabbit/' });
    expect(mistake).toContain('in a password write "/" as %2F');
  });
});

describe('ASYA_ROUTE_ALLOW', () => {
  it.each(['x-sink', 'store,x-sump'])('rejects actors of the mesh itself: %s', (names) => {
    const crew = names.split(',').at(-1);
    expect(refusalOf({ ASYA_ROUTE_ALLOW: names })).toEqual([
      `ASYA_ROUTE_ALLOW: is "${names}"; expected a comma-separated list; "${crew}" is not valid: a route cannot contain a crew actor, whose name starts with "x-"`,
    ]);
  });
});

describe('a queue name', () => {
  it('consists of the actor, and of the namespace if there is one', () => {
    expect(queueName('score', undefined)).toBe('score');
    expect(queueName('score', 'prod')).toBe('asya-prod-score');
    expect(deadLetterQueueName(queueName('score', undefined))).toBe('score-dlq');
    expect(deadLetterQueueName(queueName('score', 'prod'))).toBe('asya-prod-score-dlq');
  });

  it('has at most 80 characters', () => {
    expect(MAX_QUEUE_NAME).toBe(80);
    const fitting = 'n'.repeat(80 - 'asya--score-dlq'.length);
    expect(configOf({ ASYA_NAMESPACE: fitting }).namespace).toBe(fitting);
    const [line, ...others] = refusalOf({ ASYA_NAMESPACE: `${fitting.slice(0, -3)}long` });
    expect(others).toEqual([]);
    expect(line).toContain('ASYA_NAMESPACE: makes the queue name "asya-');
    expect(line).toContain('long-score-dlq" 81 characters long; at most 80 are allowed');
  });

  it('may be longer with other brokers', () => {
    const env = { ASYA_NAMESPACE: 'n'.repeat(100), ASYA_RABBITMQ_URL: 'amqp://rabbit/' };
    expect(refusalOf(env)).toEqual([]);
    expect(refusalOf({ ...env, ASYA_TRANSPORT: 'sqs' })).toHaveLength(1);
  });

  it('fits for the longest actor without a namespace', () => {
    expect(refusalOf({ ASYA_ACTOR_NAME: 'a'.repeat(63) })).toEqual([]);
  });
});
