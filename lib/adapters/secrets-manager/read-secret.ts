import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { credentialsFor } from '../../config/settings/local-endpoint.ts';
import type { Environment } from '../../config/settings/variables.ts';
import { namedErrorText } from '../../core/text/error-text.ts';
import type { SecretReading } from '../../ports/secret-source.ts';

const CONNECT_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 5_000;

export interface SecretStoreAddress {
  readonly region: string;
  /** Undefined: the endpoint of the region, or `AWS_ENDPOINT_URL_SECRETS_MANAGER`, which the SDK reads. */
  readonly endpoint?: string;
}

/** Returns how to read the current text of a secret of AWS Secrets Manager, by name or ARN. */
export function secretsManager(
  address: SecretStoreAddress,
  env: Environment,
): (secret: string) => Promise<SecretReading> {
  const client = new SecretsManagerClient({
    ...address,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
    ...credentialsFor(address.endpoint, env),
  });
  return async (secret) => {
    try {
      const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: secret }));
      if (SecretString !== undefined) return { ok: true, value: SecretString };
      return { ok: false, problem: 'it is binary; expected a secret that is text' };
    } catch (error) {
      return { ok: false, problem: namedErrorText(error) };
    }
  };
}
