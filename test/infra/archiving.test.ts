import { Duration } from 'aws-cdk-lib';
import { expect, test } from 'vitest';
import { readDeployEnvironment } from '../../infra/stacks/read-environment.ts';
import { mistakesText } from '../../lib/core/text/mistake.ts';
import { DEV, functionOf, LETTERS, manifestIn, resourcesOf, templateOf } from './a-mesh-stack.ts';

test('an environment chooses what is archived, and how long x-sink collects it', () => {
  const template = templateOf(manifestIn(LETTERS), {
    environment: { ...DEV, archive: 'failed', archiveWindow: Duration.seconds(2) },
  });
  const settingOf = (actor: string) =>
    functionOf(template, actor).Properties.Environment.Variables['ASYA_ARCHIVE'];
  expect(['x-sink', 'x-sump', 'x-dlq', 'store'].map(settingOf)).toEqual([
    'failed',
    undefined,
    undefined,
    undefined,
  ]);
  const collecting = resourcesOf(template, 'AWS::Lambda::EventSourceMapping').filter(
    ({ Properties }) => Properties.BatchSize === 100,
  );
  expect(collecting).toHaveLength(1);
  expect(collecting[0]?.Properties).toMatchObject({ MaximumBatchingWindowInSeconds: 2 });
  const { VisibilityTimeout } =
    resourcesOf(template, 'AWS::SQS::Queue').find(
      ({ Properties }) => Properties.QueueName === 'asya-dev-letters-x-sink',
    )?.Properties ?? {};
  // Lambda rejects an event source whose function may run longer.
  expect(VisibilityTimeout).toBeGreaterThanOrEqual(functionOf(template, 'x-sink').Properties.Timeout + 2);
});

test('the choices are read from cdk.json', () => {
  const read = (environment: object) => {
    const reading = readDeployEnvironment({ dev: environment }, 'dev');
    return 'environment' in reading ? reading.environment : mistakesText(reading.mistakes);
  };
  expect(read({})).not.toHaveProperty('archive');
  expect(read({ archive: 'failed', archiveWindowSeconds: 1 })).toMatchObject({
    archive: 'failed',
    archiveWindow: Duration.seconds(1),
  });
  expect(read({ archive: 'none' })).toBe('environments.dev.archive: is "none"; expected "all" or "failed"');
  for (const wrong of [-1, 0.5, 301, '1'])
    expect(read({ archiveWindowSeconds: wrong })).toBe(
      `environments.dev.archiveWindowSeconds: is ${JSON.stringify(wrong)}; expected a whole number from 0 to 300`,
    );
});
