import { Duration } from 'aws-cdk-lib';
import { expect, test } from 'vitest';
import { aMeshInCode as aMesh, jsonOf } from './a-mesh-in-code.ts';
import { functionOf, queuesFor } from './a-mesh-stack.ts';

/** A mesh that is declared in code, and its error messages. */

test('accepts actors and flows in any order', () => {
  const { mesh, stack } = aMesh();
  mesh.addFlow('main', { entrypoint: 'score', routeNext: ['store'], timeout: Duration.minutes(2) });
  mesh.addActor('score', {
    handler: 'score.ts.score',
    actorTimeout: Duration.seconds(20),
    policies: { default: { maxAttempts: 3, onExhausted: ['review'] } },
  });
  mesh.addActor('store', { handler: 'steps.store', maxReplicas: 3, environment: { BUCKET: 'b' } });
  const review = mesh.addActor('review', { url: 'https://review.example/' });
  mesh.grantOperate(review.function);
  const template = jsonOf(stack);
  expect(queuesFor(template, 'score', 'sqs:SendMessage')).toEqual(
    ['review', 'score', 'store', 'x-sink'].map((name) => `asya-dev-hand-${name}`),
  );
  const { Environment, Timeout } = functionOf(template, 'score').Properties;
  expect(Environment.Variables).toMatchObject({ ASYA_ROUTE_ALLOW: 'store' });
  expect(Timeout).toBe(25);
  expect(queuesFor(template, 'review', 'dynamodb:Query').length).toBe(5);
});

test('rejects an invalid actor with all its mistakes', () => {
  const { mesh } = aMesh();
  const add = () =>
    mesh.addActor('score', {
      handler: 'score.ts',
      memoryMb: 20_000,
      policies: { slow: { backof: 'linear' } },
    });
  expect(add).toThrow(/3 mistakes in the deployment of mesh "dev-hand"/);
  expect(add).toThrow(/did you mean "backoff"/);
  expect(() => mesh.addActor('score', { handler: 'a.ts.a', maxReplicas: 1 })).toThrow(/set 2 and make/);
  mesh.addActor('store', { handler: 'a.ts.a' });
  expect(() => mesh.addActor('store', { handler: 'a.ts.a' })).toThrow(
    /mesh "dev-hand" already has an actor "store"/,
  );
  expect(() => mesh.actor('stor')).toThrow(/mesh "dev-hand" has no actor "stor"; its actors are: store/);
});

test('rejects a flow with a timeout of one second', () => {
  const { mesh } = aMesh();
  const add = (timeout: Duration) => mesh.addFlow('main', { entrypoint: 'score', timeout });
  expect(() => add(Duration.seconds(1))).toThrow(
    'asya: timeout of flow "main" is 1; such a flow can never succeed, because an actor is not called with less than 1 s left; use at least 2',
  );
  expect(() => add(Duration.seconds(2))).not.toThrow();
});

test('rejects references to missing actors during synthesis', () => {
  const { mesh, stack } = aMesh();
  mesh.addActor('score', { handler: 'score.ts.score', next: ['stor'] });
  mesh.addActor('store', { handler: 'score.ts.store' });
  mesh.addFlow('main', { entrypoint: 'scor' });
  expect(() => jsonOf(stack)).toThrow(
    /flow "main"\.entrypoint: is "scor", which is not an actor of this mesh; did you mean "score"/,
  );
  expect(() => jsonOf(stack)).toThrow(
    /spec\.next\[0\]: is "stor", which is not an actor of this mesh; did you mean "store"/,
  );
});

test('rejects settings that SQS does not support, all at once', () => {
  expect(() =>
    aMesh({
      maxReceiveCount: 3,
      deadLetterRetention: Duration.days(2),
      concurrency: 1,
      crewConcurrency: 1,
      namespace: 'a.b',
    }),
  ).toThrow(/5 mistakes in the deployment/);
});
