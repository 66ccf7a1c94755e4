import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { assumeRole } from '../../lib/adapters/handler-credentials/assume-role.ts';
import { credentialsServer } from '../../lib/adapters/handler-credentials/credentials-server.ts';
import { refreshedCredentials } from '../../lib/adapters/handler-credentials/refreshed-credentials.ts';
import { aFolder } from '../support/a-folder.ts';
import { type Moto, motoAvailability, startMoto } from '../support/moto.ts';
import { MOTO_REGION, type MotoIdentities, motoIdentities } from '../support/moto-identities.ts';
import { envelopeAt } from './envelopes.ts';
import { nodeRuntime, PYTHON, pythonRuntime, startShell, until, type Variables } from './sidecar-process.ts';
import { type Stage, setStage } from './stage.ts';

/**
 * The AWS SDKs of both languages in handlers, against STS, S3 and SQS of moto, which checks signatures and policies. The
 * sidecar's own envelopes are in the embedded SQS.
 */

const missing = motoAvailability().unavailable;
if (missing !== undefined) console.log(`skipped: ${missing}; install it with: pip install "moto[server]"`);
const hasBoto3 = spawnSync(PYTHON, ['-c', 'import boto3'], { stdio: 'ignore' }).status === 0;
if (!hasBoto3) console.log('skipped for Python: boto3 is not installed; install it with: pip install boto3');

const LANGUAGES = [
  { name: 'node', command: nodeRuntime('use-aws.ts.useAws'), noCredentials: 'CredentialsProviderError' },
  ...(hasBoto3
    ? [{ name: 'python', command: pythonRuntime('use_aws.use_aws'), noCredentials: 'NoCredentialsError' }]
    : []),
];

interface Used {
  readonly put: string;
  readonly send: string;
  readonly key: string;
}

describe.skipIf(missing !== undefined)('the identity of a handler', { timeout: 180_000 }, () => {
  let moto: Moto;
  let on: MotoIdentities;
  let stage: Stage;
  beforeAll(async () => {
    moto = await startMoto();
    on = await motoIdentities(moto);
    stage = await setStage('x-sink');
  }, 120_000);
  afterAll(async () => {
    await stage?.close();
    await moto?.close();
  });

  /** Endpoints at moto, for sidecar and handler. */
  const endpoints = (): Variables => ({
    AWS_REGION: MOTO_REGION,
    AWS_DEFAULT_REGION: MOTO_REGION,
    AWS_ENDPOINT_URL_STS: moto.endpoint,
    AWS_ENDPOINT_URL_S3: moto.endpoint,
    AWS_ENDPOINT_URL_SQS: moto.endpoint,
  });

  async function sidecarOf(actor: string, command: string, more: Variables) {
    return stage.sidecar(actor, {
      ...endpoints(),
      AWS_ACCESS_KEY_ID: on.sidecar.accessKeyId,
      AWS_SECRET_ACCESS_KEY: on.sidecar.secretAccessKey,
      ASYA_AWS_REGION: MOTO_REGION,
      ASYA_RUNTIME_COMMAND: command,
      ...more,
    });
  }

  /** The files in which SDKs look for credentials. `.boto` is read by boto3. */
  function aHomeWithCredentials(): string {
    const { accessKeyId, secretAccessKey } = on.sidecar;
    const keys = `aws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`;
    return aFolder({
      '.aws/credentials': `[default]\n${keys}`,
      '.aws/config': `[default]\n${keys}`,
      '.boto': `[Credentials]\n${keys}`,
    });
  }

  async function usedBy(actor: string): Promise<Used> {
    const envelope = envelopeAt(actor, { bucket: on.bucket, queueUrl: on.queueUrl });
    await stage.send(envelope);
    return (await stage.inbox.next('x-sink', envelope.id)).payload as Used;
  }

  test('the queue accepts the sidecar, so that a refusal is the refusal of the handler', async () => {
    const sqs = new SQSClient({
      endpoint: moto.endpoint,
      region: MOTO_REGION,
      credentials: on.sidecar,
      useQueueUrlAsEndpoint: false,
    });
    onTestFinished(() => sqs.destroy());
    const { MessageId } = await sqs.send(
      new SendMessageCommand({ QueueUrl: on.queueUrl, MessageBody: 'hello' }),
    );
    expect(MessageId).toBeDefined();
  });

  describe.each(LANGUAGES)('in $name', ({ name, command, noCredentials }) => {
    test('uses its role for S3, and is refused by the queues of the sidecar', async () => {
      const sidecar = await sidecarOf(`allowed-${name}`, command, {
        ASYA_RUNTIME_ROLE_ARN: on.roleArn,
        HOME: aHomeWithCredentials(),
      });
      const used = await usedBy(`allowed-${name}`);
      expect(used).toEqual({ put: 'done', send: '403', key: expect.stringMatching(/^ASIA/) });
      expect(used.key).not.toBe(on.sidecar.accessKeyId);
      for (const secret of [used.key, on.sidecar.secretAccessKey])
        expect(sidecar.output()).not.toContain(secret);
    });

    test('has no credentials without a role, also not those in files or of the machine', async () => {
      await sidecarOf(`plain-${name}`, command, {
        HOME: aHomeWithCredentials(),
        // moto is also a metadata service, with credentials of a virtual machine.
        AWS_EC2_METADATA_SERVICE_ENDPOINT: moto.endpoint,
      });
      expect(await usedBy(`plain-${name}`)).toEqual({ put: noCredentials, send: noCredentials, key: 'none' });
    });

    test('gets credentials lazily, shares them, and gets new ones before they expire', async () => {
      const { client, requests, advance } = await aServedRole(command);
      expect(requests()).toBe(0);
      const first = await client();
      expect(first).toMatchObject({ put: 'done', send: '403' });
      expect((await client()).key).toBe(first.key);
      expect(requests()).toBe(1);
      advance(50_000);
      // An SDK may use the old credentials once more while it requests new ones in the background.
      await expect.poll(client, { timeout: 60_000 }).toMatchObject({
        put: 'done',
        key: expect.not.stringMatching(first.key),
      });
      expect(requests()).toBe(2);
    });

    test('gets nothing with a wrong token, as another process would', async () => {
      const { client, requests, warnings } = await aServedRole(command, {
        AWS_CONTAINER_AUTHORIZATION_TOKEN: 'guess',
      });
      expect(await client()).toEqual({
        put: expect.stringMatching(/Error$/),
        send: expect.stringMatching(/Error$/),
        key: 'none',
      });
      expect(requests()).toBe(0);
      expect(warnings).toContain('a request for credentials was refused');
    });
  });

  test('reports that the role cannot be assumed', async () => {
    const [{ command } = { command: '' }] = LANGUAGES;
    const sidecar = await sidecarOf('foreign', command, { ASYA_RUNTIME_ROLE_ARN: on.foreignRoleArn });
    expect(await usedBy('foreign')).toMatchObject({ put: expect.stringMatching(/Error$/), key: 'none' });
    const line = await sidecar.untilLine(({ message }) => message === 'the handler got no credentials');
    expect(line['problem']).toContain('is not authorized to perform: sts:AssumeRole');
  });

  /** A runtime with the handler and a credentials server whose clock the test sets. Credentials last a minute. */
  async function aServedRole(command: string, more: Variables = {}) {
    let offsetMs = 0;
    let requested = 0;
    const now = () => Date.now() + offsetMs;
    for (const [name, value] of Object.entries({
      AWS_ENDPOINT_URL_STS: moto.endpoint,
      AWS_ACCESS_KEY_ID: on.sidecar.accessKeyId,
      AWS_SECRET_ACCESS_KEY: on.sidecar.secretAccessKey,
    }))
      vi.stubEnv(name, value);
    onTestFinished(() => void vi.unstubAllEnvs());
    const assume = assumeRole({ roleArn: on.roleArn, region: MOTO_REGION, actor: 'test' });
    const warnings: string[] = [];
    const server = await credentialsServer({
      credentials: refreshedCredentials({
        // STS gives credentials for 15 minutes or more. The SDKs ask again if less than 5 or 15 minutes are left.
        request: async () => {
          requested++;
          return { ...(await assume()), expiresAt: now() + 60_000 };
        },
        now,
        onRefreshFailed: (error) => warnings.push(String(error)),
      }),
      onWarning: (message) => warnings.push(message),
    });
    onTestFinished(() => server.close());
    const path = `${stage.folder}/${Math.random().toString(36).slice(2)}.sock`;
    const runtime = startShell(command, {
      ...endpoints(),
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
      AWS_EC2_METADATA_DISABLED: 'true',
      ...server.variables,
      ASYA_RUNTIME_URL: `http+unix:${path}:/invoke`,
      ...more,
    });
    onTestFinished(() => runtime.signal('SIGKILL'));
    return {
      warnings,
      requests: () => requested,
      advance: (ms: number) => {
        offsetMs += ms;
      },
      client: () => invoke(path, { bucket: on.bucket, queueUrl: on.queueUrl }),
    };
  }
});

/** Calls a runtime over its socket, as soon as it listens. */
async function invoke(socketPath: string, payload: unknown): Promise<Used> {
  await until(() => existsSync(socketPath), `${socketPath} exists`);
  const text = await new Promise<string>((resolve, reject) => {
    const call = request({ socketPath, path: '/invoke', method: 'POST' }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => resolve(body));
    });
    call.on('error', reject);
    call.setHeader('content-type', 'application/json');
    call.end(JSON.stringify(payload));
  });
  return JSON.parse(text) as Used;
}
