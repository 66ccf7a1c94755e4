import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { credentialsFor } from '../../config/settings/local-endpoint.ts';
import type { Environment } from '../../config/settings/variables.ts';
import type { SecretReading } from '../../ports/secret-source.ts';
import { secretReader } from './secret-reader.ts';

const CONNECT_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 5_000;

export interface SecretStoreAddress {
  readonly region: string;
  /** Undefined: the endpoint of the region, or `AWS_ENDPOINT_URL_SECRETS_MANAGER`, which the SDK reads. */
  readonly endpoint?: string;
}

/** Returns how to read the current text of a secret, by the client of the AWS SDK. */
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
  return secretReader((input) => client.send(new GetSecretValueCommand(input)));
}
