import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRawServer } from '../adapters/runtime-http/raw-server.ts';
import { envelopeAt } from './envelopes.ts';
import { PYTHON, pythonRuntime, ROOT, saying, startSidecar, untilWorking } from './sidecar-process.ts';
import { type Stage, setStage } from './stage.ts';

/** Configuration by environment variables: all mistakes are reported, and secrets do not reach the runtime. */

let stage: Stage;
beforeAll(async () => {
  stage = await setStage('x-sink');
});
afterAll(() => stage.close());

const IN_PYTHON = { ASYA_RUNTIME_COMMAND: pythonRuntime('behaviours.handle') };

describe.concurrent('an invalid configuration', () => {
  test('prints every mistake on stderr and exits with status 2, without a stack trace', async () => {
    const sidecar = startSidecar({
      ASYA_ACTOR_NAME: 'Not A Name',
      ASYA_CONCURENCY: '3',
      ASYA_RESILIENCY_ACTOR_TIMEOUT: '5 minutes',
      ASYA_RESILIENCY_POLICIES: '{"slow":{"maxAttemps":3}}',
      ASYA_RESILIENCY_RULES: '[{"errors":["ValueError"],"policy":"slwo"}]',
      ASYA_SQS_ENDPOINT: stage.sqs.endpoint,
    });
    expect(await sidecar.untilExit()).toEqual({ code: 2, signal: null });
    const printed = sidecar.errorOutput();
    for (const mistake of [
      'ASYA_ACTOR_NAME',
      'ASYA_CONCURRENCY',
      '5 minutes',
      'maxAttempts',
      'slwo',
      '5 mistakes in the configuration',
    ])
      expect(printed).toContain(mistake);
    expect(printed).not.toMatch(/^\s+at .*:\d+:\d+\)?$/m);
    expect(sidecar.output()).toBe(printed);
  });

  test('names the required variables if none is set', async () => {
    const sidecar = startSidecar({});
    expect(await sidecar.untilExit()).toMatchObject({ code: 2 });
    expect(sidecar.errorOutput()).toMatch(/ASYA_ACTOR_NAME: is not set/);
  });

  test('logs a port in use and exits with status 1', async () => {
    const server = await startRawServer(() => {});
    try {
      const { port } = new URL(server.url);
      await stage.sqs.createQueue('portless');
      const sidecar = startSidecar(
        stage.variables('portless', { ...IN_PYTHON, ASYA_METRICS_ADDR: `127.0.0.1:${port}` }),
      );
      expect(await sidecar.untilExit()).toMatchObject({ code: 1 });
      expect(String(sidecar.lines.find(saying('sidecar failed'))?.['problem'])).toContain('EADDRINUSE');
    } finally {
      await server.close();
    }
  });
});

describe("the runtime's environment", () => {
  const SECRETS = {
    AWS_ACCESS_KEY_ID: 'key-id',
    AWS_SECRET_ACCESS_KEY: 'secret-key',
    AWS_SESSION_TOKEN: 'token',
    AWS_WEB_IDENTITY_TOKEN_FILE: '/var/token',
    AWS_ROLE_ARN: 'arn:role',
    AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/creds',
    AWS_PROFILE: 'somebody',
  };

  test('contains only the credentials that ASYA_RUNTIME_PASS_ENV names', async () => {
    const common = { ...IN_PYTHON, ...SECRETS, AWS_REGION: 'us-east-1', COLOUR: 'blue', AWS_PROFILE: '' };
    await Promise.all([
      stage.sidecar('closed', common),
      stage.sidecar('trusting', { ...common, ASYA_RUNTIME_PASS_ENV: 'AWS_SESSION_TOKEN' }),
    ]);
    const environmentOf = async (actor: string) => {
      const envelope = envelopeAt(actor, { do: 'environment' });
      await stage.send(envelope);
      return (await stage.inbox.next('x-sink', envelope.id)).payload as Record<string, string>;
    };
    const closed = await environmentOf('closed');
    for (const name of Object.keys(SECRETS)) expect(closed).not.toHaveProperty(name);
    expect(JSON.stringify(closed)).not.toContain('secret-key');
    expect(closed).toMatchObject({
      AWS_REGION: 'us-east-1',
      COLOUR: 'blue',
      ASYA_RUNTIME_URL: `unix:${stage.folder}/closed.sock`,
    });
    const trusting = await environmentOf('trusting');
    expect(trusting).toMatchObject({ AWS_SESSION_TOKEN: 'token' });
    expect(trusting).not.toHaveProperty('AWS_SECRET_ACCESS_KEY');
  });
});

test('runs the quick start of the docs unchanged', async () => {
  await stage.sqs.createQueue('quick');
  const sidecar = startSidecar({
    ASYA_ACTOR_NAME: 'quick',
    ASYA_SQS_ENDPOINT: stage.sqs.endpoint,
    ASYA_RUNTIME_COMMAND: `${PYTHON} ${ROOT}/runtimes/python/asya_runtime.py behaviours.handle`,
    // Their defaults may be in use on this machine.
    ASYA_SOCKET_PATH: `${stage.folder}/quick.sock`,
    ASYA_METRICS_ADDR: '',
  });
  await untilWorking(sidecar);
  const envelope = envelopeAt('quick', { value: 1 });
  await stage.send(envelope);
  expect((await stage.inbox.next('x-sink', envelope.id)).payload).toBe(1);
});
