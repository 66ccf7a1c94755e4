import { expect, test } from 'vitest';
import type { Manifest } from '../../../lib/config/manifest/manifest.ts';
import { lambdaMistakes } from '../../../lib/config/plan/lambda-limits.ts';
import { mistakesText } from '../../../lib/core/text/mistake.ts';
import { actorText, manifestOf, python } from '../manifest/a-mesh.ts';

/** Meshes that SQS or Lambda would reject, or would run differently than configured. */

const SETTINGS = { namespace: 'dev-hello', region: 'eu-central-1', storage: {} };

const reportFor = (manifest: Manifest, settings = {}): string =>
  mistakesText(lambdaMistakes(manifest, { ...SETTINGS, ...settings }));
const reportForSpec = (...spec: readonly string[]): string =>
  reportFor(manifestOf({ 'score.yaml': python('score', ...spec) }));

test('accepts a mesh that can be deployed', () => {
  expect(reportForSpec()).toBe('');
  expect(
    reportForSpec('scaling: {maxReplicas: 2, batchSize: 10}', 'resiliency: {actorTimeout: 14m55s}'),
  ).toBe('');
});

test("an actor's timeout over Lambda's limit", () => {
  const report = reportForSpec('resiliency: {actorTimeout: 15m}');
  expect(report).toMatch(
    /^score\.yaml "score" spec\.resiliency\.actorTimeout: is 15m; a call may take at most 14m55s on Lambda/,
  );
  expect(report).toMatch(/split the work into several actors, or run this one as a long-running worker/);
});

test('a visibility timeout below the time that the function may hold a message, with batch and window', () => {
  const report = reportForSpec(
    'resiliency: {actorTimeout: 10s, visibilityTimeout: 60s}',
    'scaling: {batchSize: 10, batchWindow: 20s, concurrency: 2}',
  );
  // Five rounds of 10 s, 5 s of overhead, and 20 s until the batch is full.
  expect(report).toMatch(
    /visibilityTimeout: is 1m, but the function may hold a message for 1m15s, and Lambda rejects/,
  );
  expect(report).toMatch(/omit it for 1m45s, or set 1m15s or more$/);
  expect(reportForSpec('resiliency: {actorTimeout: 10s, visibilityTimeout: 15s}')).toBe('');
});

test('one replica, with alternatives', () => {
  expect(reportForSpec('scaling: {maxReplicas: 1}')).toMatch(
    /maxReplicas: is 1; a Lambda event source needs at least 2, .*: set 2 and make the handler safe .*, or run this actor as one long-running worker/,
  );
});

test('queue names over 80 characters, with the number to remove', () => {
  const long = 'a'.repeat(63);
  expect(reportFor(manifestOf({ 'a.yaml': python(long) }))).toMatch(
    /^a\.yaml "a+": makes the queue name ".*" 82 characters long; SQS allows 80: shorten .* by 2$/,
  );
});

test('actors that would share a queue', () => {
  const manifest = manifestOf({ 'a.yaml': python('score'), 'b.yaml': python('score-dlq') });
  expect(reportFor(manifest)).toBe(
    'b.yaml "score-dlq": makes the queue "asya-dev-hello-score-dlq", which is the dead-letter queue of "score"; rename the actor',
  );
});

test('references to missing actors in a flow, next and onError, also for a mesh in code', () => {
  const { actors } = manifestOf({
    'a.yaml': python('score', 'next: [store]', 'resiliency: {onError: store}'),
    'b.yaml': python('store'),
  });
  const flows = [{ name: 'main', entrypoint: 'scor', routeNext: ['stor'] }];
  const report = reportFor({ actors: actors.slice(0, 1), flows }).split('\n');
  expect(report).toEqual([
    'flow "main".entrypoint: is "scor", which is not an actor of this mesh; did you mean "score"?',
    'flow "main".route_next[0]: is "stor", which is not an actor of this mesh; did you mean "score"?',
    'a.yaml "score" spec.next[0]: is "store", which is not an actor of this mesh; did you mean "score"?',
    'a.yaml "score" spec.resiliency: is "store", which is not an actor of this mesh; did you mean "score"?',
  ]);
});

test('two flows with the same name in a mesh in code', () => {
  const { actors } = manifestOf({ 'a.yaml': python('score') });
  const flow = { name: 'main', entrypoint: 'score', routeNext: [] };
  expect(reportFor({ actors, flows: [flow, flow] })).toBe(
    'flow "main": is defined twice; rename one of them',
  );
});

const escalating = (topic: string) =>
  reportForSpec(
    `resiliency: {policies: {p: {onExhausted: {action: escalate, topic: ${JSON.stringify(topic)}}}}}`,
  );

test.each(['*', 'night-?', 'asya-*', 'night:shift', 'night.fifo', 'night shift', 'x'.repeat(81)])(
  'an escalation to %s, which cannot be part of a permission',
  (topic) => {
    expect(escalating(topic)).toMatch(
      /^score\.yaml "score" spec\.resiliency\.policies: escalate to ".+", which is not the name of an SQS queue: expected up to 80 letters, digits, "-" and "_"; FIFO queues are not supported$/,
    );
  },
);

test('an escalation to a queue of the crew: only x-sink sends to x-sump', () => {
  expect(escalating('asya-dev-hello-x-sump')).toMatch(
    /a queue of the mesh itself; expected a queue with another consumer/,
  );
  expect(escalating('asya-dev-hello-x-sump-dlq')).toMatch(/a queue of the mesh itself/);
  for (const own of ['x-gateway', 'x-gateway-dlq', 'x-sink-dlq', 'score-dlq'])
    expect(escalating(`asya-dev-hello-${own}`)).toMatch(/a queue of the mesh itself/);
  expect(escalating('night-shift')).toBe('');
});

test('an environment over 4 KB; policies do not count, they are in a file', () => {
  expect(reportForSpec(`environment: {PROMPT: ${'x'.repeat(4000)}}`)).toMatch(
    /spec\.environment: makes an environment of \d{4} bytes, including the sidecar's variables; Lambda allows 4096 in total: put long values into a file/,
  );
  const many = Array.from({ length: 180 }, (_, n) => `V${n}: ${'x'.repeat(14)}`);
  // About 3500 bytes of names and values, plus the quotes, which Lambda counts too.
  expect(reportForSpec(`environment: {${many.join(', ')}}`)).toMatch(
    /makes an environment of 4[4-9]\d\d bytes/,
  );
  const policies = Array.from({ length: 200 }, (_, n) => `p${n}: {maxAttempts: 3, initialDelay: 1s}`);
  expect(reportForSpec(`resiliency: {policies: {${policies.join(', ')}}}`)).toBe('');
});

test('an environment that is too large only with the variables for the gateway', () => {
  const manifest = manifestOf({ 'a.yaml': python('score', `environment: {PROMPT: ${'x'.repeat(3700)}}`) });
  expect(reportFor(manifest)).toBe('');
  expect(reportFor(manifest, { gateway: { url: '{url}', secret: '{secret}' } })).toMatch(
    /environment of 41\d\d bytes/,
  );
});

test('reserved variables', () => {
  const report = reportForSpec('environment: {AWS_REGION: a, A: b, POWERTOOLS_SERVICE_NAME: c, FINE_ONE: d}');
  expect(report.split('\n')).toEqual([
    'score.yaml "score" spec.environment.AWS_REGION: is reserved by Lambda; choose another name',
    'score.yaml "score" spec.environment.A: is not valid on Lambda; expected a letter, then at least one letter, digit or "_"',
    expect.stringContaining('POWERTOOLS_SERVICE_NAME: is set by the mesh'),
  ]);
});

test('a runtime that cannot be reached or started', () => {
  const url = actorText('a', 'url: http://127.0.0.1:8080/invoke');
  expect(reportFor(manifestOf({ 'a.yaml': url }))).toMatch(
    /spec\.url: .*nothing listens there inside a Lambda function/,
  );
  const image = actorText('a', 'image: registry.example/score:1');
  expect(reportFor(manifestOf({ 'a.yaml': image }))).toMatch(
    /spec\.handler: is missing; on Lambda the sidecar/,
  );
  const whole = actorText('a', 'image: registry.example/score:1', 'handler: score.score');
  expect(reportFor(manifestOf({ 'a.yaml': whole }))).toBe('');
});

test('settings for all queues', () => {
  const manifest = manifestOf({ 'a.yaml': python('score') });
  const queues = { maxReceiveCount: 3, retentionSeconds: 86_400, deadLetterRetentionSeconds: 86_400 };
  const report = reportFor(manifest, {
    queues,
    replicaLimit: 1,
    namespace: 'dev.x',
    archiveWindowSeconds: 301,
  });
  expect(report).toMatch(/^namespace: is "dev\.x"; expected letters/m);
  expect(report).toMatch(
    /^maxReceiveCount: is 3; polls that Lambda throttles count .*; expected 5 or more$/m,
  );
  expect(report).toMatch(
    /^deadLetterRetention: is 24h, which is not longer than the retention of the queues \(24h\): .*; expected more, up to 336h/m,
  );
  expect(report).toContain('archiveWindow: is 5m1s; an SQS event source collects messages for at most 5m');
  expect(report).toMatch(/^concurrency: is 1; expected 2 or more, the minimum of an SQS event source/m);
});

test.each([
  [{ maxReceiveCount: 1001 }, 'maxReceiveCount: is 1001; expected a whole number from 5 to 1000'],
  [{ maxReceiveCount: 5.5 }, 'maxReceiveCount: is 5.5; expected a whole number from 5 to 1000'],
  [{ retentionSeconds: 30 }, 'retention: is 30s; SQS keeps messages for at least 1m'],
])('a setting that SQS would reject, %j', (queues, report) => {
  expect(reportFor(manifestOf({ 'a.yaml': python('score') }), { queues })).toBe(report);
});

test('reports all mistakes at once', () => {
  const manifest = manifestOf({
    'a.yaml': python('one', 'scaling: {maxReplicas: 1}', 'resiliency: {actorTimeout: 20m}'),
    'b.yaml': python('two', 'scaling: {maxReplicas: 1}'),
  });
  expect(lambdaMistakes(manifest, SETTINGS)).toHaveLength(3);
});
