import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { credentialsFor } from '../../config/settings/local-endpoint.ts';
import type { Environment } from '../../config/settings/variables.ts';
import { namedErrorText } from '../../core/text/error-text.ts';
import type { SecretReading } from '../../ports/secret-source.ts';

const CONNECT_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 5_000;

export interface ParameterStoreAddress {
  readonly region: string;
  /** Undefined: the endpoint of the region, or `AWS_ENDPOINT_URL_SSM`, which the SDK reads. */
  readonly endpoint?: string;
}

/** Returns how to read the current, decrypted value of a parameter of AWS Systems Manager, by name or ARN. */
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
  return async (parameter) => {
    try {
      const { Parameter } = await client.send(
        new GetParameterCommand({ Name: parameter, WithDecryption: true }),
      );
      if (Parameter?.Value !== undefined) return { ok: true, value: Parameter.Value };
      return { ok: false, problem: 'it has no value' };
    } catch (error) {
      return { ok: false, problem: namedErrorText(error) };
    }
  };
}
