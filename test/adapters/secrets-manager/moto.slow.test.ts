import {
  CreateSecretCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { secretsManager } from '../../../lib/adapters/secrets-manager/read-secret.ts';
import { parameterStore } from '../../../lib/adapters/ssm/read-parameter.ts';
import { type Moto, motoAvailability, startMoto } from '../../support/moto.ts';

/** Both readers against an implementation of the two services that is not ours. */

const { unavailable } = motoAvailability();
const REGION = 'us-east-1';
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

describe.skipIf(unavailable !== undefined)(`secret stores in moto ${unavailable ?? ''}`, () => {
  let moto: Moto;
  beforeAll(async () => {
    moto = await startMoto();
  });
  afterAll(() => moto.close());

  test('a secret is read by name and by ARN, and its new value after a rotation', async () => {
    const { endpoint } = moto;
    const client = new SecretsManagerClient({ endpoint, region: REGION, credentials });
    const read = secretsManager({ endpoint, region: REGION }, {});
    const { ARN = '' } = await client.send(
      new CreateSecretCommand({ Name: 'my/openai', SecretString: '{"api_key":"sk-1"}' }),
    );
    expect(await read('my/openai')).toEqual({ ok: true, value: '{"api_key":"sk-1"}' });
    expect(await read(ARN)).toEqual({ ok: true, value: '{"api_key":"sk-1"}' });
    await client.send(new PutSecretValueCommand({ SecretId: 'my/openai', SecretString: 'rotated' }));
    expect(await read('my/openai')).toEqual({ ok: true, value: 'rotated' });
    await client.send(new CreateSecretCommand({ Name: 'binary', SecretBinary: new Uint8Array([1]) }));
    expect(await read('binary')).toEqual({
      ok: false,
      problem: 'it is binary; expected a secret that is text',
    });
    expect(await read('absent')).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/^ResourceNotFoundException: /),
    });
    client.destroy();
  });

  test('a parameter is read decrypted, and its new value after a rotation', async () => {
    const { endpoint } = moto;
    const client = new SSMClient({ endpoint, region: REGION, credentials });
    const read = parameterStore({ endpoint, region: REGION }, {});
    const put = (Value: string) =>
      client.send(
        new PutParameterCommand({ Name: '/my/database', Value, Type: 'SecureString', Overwrite: true }),
      );
    await put('postgres://1');
    expect(await read('/my/database')).toEqual({ ok: true, value: 'postgres://1' });
    await put('postgres://2');
    expect(await read('/my/database')).toEqual({ ok: true, value: 'postgres://2' });
    expect(await read('/absent')).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/^ParameterNotFound/),
    });
    client.destroy();
  });
});
