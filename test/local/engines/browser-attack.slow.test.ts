import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startMesh } from '../../../lib/local/mesh/mesh.ts';
import { aFolder } from '../../support/a-folder.ts';
import { rawAnswer } from '../../support/raw-request.ts';
import { actorYaml, manifestIn, outsideOf } from '../a-mesh.ts';

/** The handler records each payload. */
const HANDLER = `import { appendFileSync } from 'node:fs';
export function step(payload: { from: string }) {
  appendFileSync('calls', payload.from + '\\n');
  return payload;
}
`;

test('a web page cannot run a handler or list the archive of a running mesh', async () => {
  const folder = aFolder({ 'a.yaml': actorYaml('a'), 'step.ts': HANDLER });
  const started = await startMesh({ manifest: manifestIn(folder), folder, replicas: 1, onEvent: () => {} });
  if ('problem' in started) throw new Error(started.problem);
  const { mesh } = started;
  onTestFinished(() => mesh.close(1_000));
  const outside = outsideOf(mesh.variables);
  onTestFinished(outside.close);
  const calls = () => {
    const file = join(folder, 'calls');
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  };
  const { host, port } = new URL(mesh.variables['ASYA_SQS_ENDPOINT'] ?? '');

  /** A request that a form of a page can send without a preflight. */
  const post = (fields: Readonly<Record<string, string>>) =>
    rawAnswer(Number(port), {
      method: 'POST',
      headers: [
        ['Host', host],
        ['Origin', 'https://evil.example'],
        ['Content-Type', 'application/x-www-form-urlencoded'],
      ],
      body: new URLSearchParams({ Version: '2010-03-31', ...fields }).toString(),
    });
  const TopicArn = 'arn:aws:sns:us-east-1:000000000000:evil';
  const envelope = { id: 'evil', route: { prev: [], curr: 'a', next: [] }, payload: { from: 'a page' } };
  const answers = [
    await post({ Action: 'CreateTopic', Name: 'evil' }),
    await post({
      Action: 'Subscribe',
      TopicArn,
      Protocol: 'sqs',
      Endpoint: 'arn:aws:sqs:us-east-1:000000000000:a',
      'Attributes.entry.1.key': 'RawMessageDelivery',
      'Attributes.entry.1.value': 'true',
    }),
    await post({ Action: 'Publish', TopicArn, Message: JSON.stringify(envelope) }),
  ];
  // A message of the page would be in the queue before this one.
  await outside.send(['a'], 'good', { from: 'a program' });
  await outside.untilEnded('good');
  expect(calls()).toEqual(['a program']);
  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);

  const rebound = await rawAnswer(Number(port), {
    target: '/asya-archive?list-type=2',
    headers: [['Host', `evil.example:${port}`]],
  });
  expect(rebound).toMatchObject({ status: 403, text: expect.not.stringContaining('ListBucketResult') });
});
