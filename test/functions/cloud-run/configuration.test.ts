import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { delayerConfigFrom } from '../../../lib/config/settings/delayer-config.ts';
import { pushHostFrom } from '../../../lib/config/settings/push-host.ts';
import { configOf } from '../../config/an-environment.ts';
import { endProcesses, ROOT } from '../../sidecar/sidecar-process.ts';
import { startHost } from './a-cloud-run-stage.ts';

/** The host on Cloud Run does not start with an incomplete configuration of its authentication. */

afterAll(endProcesses);

async function startupError(variables: Readonly<Record<string, string>>): Promise<string> {
  const host = startHost({ ASYA_ACTOR_NAME: 'score', ASYA_PUBSUB_PROJECT_ID: 'shop', ...variables });
  expect(await host.untilExit()).toEqual({ code: 2, signal: null });
  return host.errorOutput();
}

const PUSH_AUTH = {
  ASYA_PUSH_AUDIENCE: 'https://score.example.com',
  ASYA_PUSH_SERVICE_ACCOUNT: 'push@shop.iam.gserviceaccount.com',
};

describe.concurrent('a host with a wrong configuration', () => {
  test('does not start without an audience and a service account', async () => {
    const printed = await startupError({});
    expect(printed).toContain('2 mistakes');
    expect(printed).toContain('ASYA_PUSH_AUDIENCE: is not set');
    expect(printed).toContain('ASYA_PUSH_SERVICE_ACCOUNT: is not set');
    expect(printed).toContain('ASYA_PUSH_AUTH=none');
  });

  test('reports all other mistakes at once', async () => {
    const printed = await startupError({
      ...PUSH_AUTH,
      ASYA_TRANSPORT: 'sqs',
      ASYA_RESILIENCY_ACTOR_TIMEOUT: '58s',
      ASYA_PUSH_ACK_DEADLINE: '60',
      PORT: 'http',
    });
    expect(printed).toContain('3 mistakes');
    expect(printed).toContain('ASYA_TRANSPORT: is "sqs", but only Pub/Sub pushes');
    expect(printed).toContain(
      'ASYA_RESILIENCY_ACTOR_TIMEOUT: is 58s, but Pub/Sub waits only 60 s for the answer to a push',
    );
    expect(printed).toContain('expected at most 55s');
    expect(printed).toContain('PORT: is "http"; expected a whole number from 0 to 65535');
  });

  test('reports mistakes in the settings of the actor, like every host', async () => {
    expect(await startupError({ ...PUSH_AUTH, ASYA_PUSH_AUDIENC: 'x' })).toContain(
      'ASYA_PUSH_AUDIENC: is not a known setting; did you mean "ASYA_PUSH_AUDIENCE"?',
    );
  });
});

const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');

test('the configuration of the example service is valid and consistent', () => {
  const { metadata, spec } = parse(textOf('examples/cloud-run/service.yaml'));
  const { containers, containerConcurrency, timeoutSeconds } = spec.template.spec;
  const [host, runtime] = containers as readonly { env: readonly { name: string; value: string }[] }[];
  const env = Object.fromEntries((host?.env ?? []).map(({ name, value }) => [name, value]));
  const config = configOf(env);
  expect(pushHostFrom(config, env)).toMatchObject({ host: { trust: { auth: 'iam' }, port: 8_080 } });
  expect(containerConcurrency).toBe(config.runtime.concurrency);
  expect(timeoutSeconds).toBeGreaterThanOrEqual(config.push.ackDeadlineSeconds);
  expect(JSON.parse(metadata.annotations['run.googleapis.com/custom-audiences'])).toEqual([
    config.push.audience,
  ]);
  expect(config.runtime.address).toEqual({ kind: 'http', url: 'http://127.0.0.1:8081/invoke' });
  expect(textOf('examples/cloud-run/Dockerfile.runtime')).toContain(
    'ASYA_RUNTIME_URL=http://127.0.0.1:8081/invoke',
  );
  expect(runtime).toMatchObject({ startupProbe: { httpGet: { path: '/healthz', port: 8_081 } } });
});

test('the configuration in docs/pubsub-delayer.md is valid', () => {
  const [, list = ''] = /--set-env-vars=(\S+)/.exec(textOf('docs/pubsub-delayer.md')) ?? [];
  const text = list.replaceAll('$P', 'my-project').replaceAll('$R', 'europe-west1');
  const env = Object.fromEntries(text.split(',').map((one) => one.split('=') as [string, string]));
  expect(delayerConfigFrom(env)).toMatchObject({
    config: { queues: { defaultQueue: 'projects/my-project/locations/europe-west1/queues/delays' } },
  });
});
