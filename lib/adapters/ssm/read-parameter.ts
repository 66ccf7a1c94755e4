import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { credentialsFor } from '../../config/settings/local-endpoint.ts';
import type { Environment } from '../../config/settings/variables.ts';
import type { SecretReading } from '../../ports/secret-source.ts';
import { parameterReader } from './parameter-reader.ts';

const CONNECT_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 5_000;

export interface ParameterStoreAddress {
  readonly region: string;
  /** Undefined: the endpoint of the region, or `AWS_ENDPOINT_URL_SSM`, which the SDK reads. */
  readonly endpoint?: string;
}

/** Returns how to read the current, decrypted value of a parameter, by the client of the AWS SDK. */
export function parameterStore(
  address: ParameterStoreAddress,
  env: Environment,
): (parameter: string) => Promise<SecretReading> {
  const client = new SSMClient({
    ...address,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
    ...credentialsFor(address.endpoint, env),
  });
  return parameterReader((input) => client.send(new GetParameterCommand(input)));
}
