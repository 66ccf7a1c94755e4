import { namedErrorText } from '../../core/text/error-text.ts';
import type { AwsJsonService } from '../../ports/aws-service.ts';
import type { SecretReading } from '../../ports/secret-source.ts';

/** The answer to `GetSecretValue`. A binary secret has no string. */
interface SecretValue {
  readonly SecretString?: string | undefined;
}

/** Returns how to read the current text of a secret of AWS Secrets Manager, by name or ARN. */
export function secretReader(
  getSecretValue: (input: { readonly SecretId: string }) => Promise<SecretValue>,
): (secret: string) => Promise<SecretReading> {
  return async (secret) => {
    try {
      const { SecretString } = await getSecretValue({ SecretId: secret });
      if (SecretString !== undefined) return { ok: true, value: SecretString };
      return { ok: false, problem: 'it is binary; expected a secret that is text' };
    } catch (error) {
      return { ok: false, problem: namedErrorText(error) };
    }
  };
}

/** The same by our own client, for functions on Lambda. */
export function slimSecretsManager(service: AwsJsonService): (secret: string) => Promise<SecretReading> {
  return secretReader((input) => service.call<SecretValue>('GetSecretValue', input));
}
