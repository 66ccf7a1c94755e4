import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AwsAccess } from '../../../lib/adapters/aws-http/aws-requests.ts';
import { awsJsonService } from '../../../lib/adapters/aws-http/json-service.ts';
import { awsStsService } from '../../../lib/adapters/aws-http/query-service.ts';
import { slimAssumeRole } from '../../../lib/adapters/handler-credentials/slim-assume-role.ts';
import { httpClient } from '../../../lib/adapters/http-client/http-client.ts';
import { slimSecretsManager } from '../../../lib/adapters/secrets-manager/secret-reader.ts';
import { slimParameterStore } from '../../../lib/adapters/ssm/parameter-reader.ts';
import { systemClock } from '../../../lib/adapters/system/system.ts';
import { type Moto, motoAvailability, startMoto } from '../../support/moto.ts';
import { MOTO_REGION, type MotoIdentities, motoIdentities } from '../../support/moto-identities.ts';

/** The slim client against an implementation of the services that is not ours. */

const { unavailable } = motoAvailability();

describe.skipIf(unavailable !== undefined)(`services in moto ${unavailable ?? ''}`, () => {
  let moto: Moto;
  let identities: MotoIdentities;
  beforeAll(async () => {
    moto = await startMoto();
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
    const common = { endpoint: moto.endpoint, region: MOTO_REGION, credentials };
    const secrets = new SecretsManagerClient(common);
    await secrets.send(new CreateSecretCommand({ Name: 'my/openai', SecretString: '{"api_key":"sk-1"}' }));
    await secrets.send(new CreateSecretCommand({ Name: 'binary', SecretBinary: new Uint8Array([1]) }));
    const parameters = new SSMClient(common);
    await parameters.send(
      new PutParameterCommand({ Name: '/my/db', Value: 'postgres://1', Type: 'SecureString' }),
    );
    secrets.destroy();
    parameters.destroy();
  });
  afterAll(() => moto.close());

  function accessWith(env: Record<string, string>): AwsAccess {
    const { endpoint } = moto;
    return {
      endpoint,
      region: MOTO_REGION,
      env,
      http: httpClient(),
      clock: systemClock,
      random: Math.random,
    };
  }

  test('a secret is read by name, and problems have the name of their error', async () => {
    const service = awsJsonService('secretsManager', accessWith({}));
    const read = slimSecretsManager(service);
    expect(await read('my/openai')).toEqual({ ok: true, value: '{"api_key":"sk-1"}' });
    expect(await read('binary')).toEqual({
      ok: false,
      problem: 'it is binary; expected a secret that is text',
    });
    expect(await read('absent')).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/^ResourceNotFoundException: /),
    });
    service.close();
  });

  test('a parameter is read decrypted', async () => {
    const service = awsJsonService('ssm', accessWith({}));
    const read = slimParameterStore(service);
    expect(await read('/my/db')).toEqual({ ok: true, value: 'postgres://1' });
    expect(await read('/absent')).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/^ParameterNotFound/),
    });
    service.close();
  });

  describe('that checks signatures and policies', () => {
    beforeAll(async () => {
      identities = await motoIdentities(moto);
    });

    const variablesOf = ({ accessKeyId, secretAccessKey }: MotoIdentities['sidecar']) => ({
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
    });

    test('a role is assumed, and its credentials are complete', async () => {
      const sts = awsStsService(accessWith(variablesOf(identities.sidecar)));
      const options = { region: MOTO_REGION, actor: 'score' };
      const granted = await slimAssumeRole(sts, { ...options, roleArn: identities.roleArn })();
      expect(granted).toEqual({
        accessKeyId: expect.stringMatching(/^ASIA/),
        secretAccessKey: expect.stringMatching(/.{20}/),
        sessionToken: expect.stringMatching(/.{20}/),
        expiresAt: expect.any(Number),
      });
      expect(granted.expiresAt).toBeGreaterThan(Date.now());
      await expect(
        slimAssumeRole(sts, { ...options, roleArn: identities.foreignRoleArn })(),
      ).rejects.toMatchObject({
        name: 'AccessDenied',
        status: 403,
        message: expect.stringContaining('is not authorized to perform: sts:AssumeRole'),
      });
      sts.close();
    });

    test('a send is accepted with the right secret only', async () => {
      const entry = { Id: '0', MessageBody: 'ä€ 😀' };
      const input = { QueueUrl: identities.queueUrl, Entries: [entry] };
      const right = awsJsonService('sqs', accessWith(variablesOf(identities.sidecar)));
      expect(await right.call('SendMessageBatch', input)).toMatchObject({ Successful: [{ Id: '0' }] });
      const wrong = awsJsonService(
        'sqs',
        accessWith(variablesOf({ ...identities.sidecar, secretAccessKey: 'wrong' })),
      );
      await expect(wrong.call('SendMessageBatch', input)).rejects.toMatchObject({ status: 403 });
      right.close();
      wrong.close();
    });
  });
});
