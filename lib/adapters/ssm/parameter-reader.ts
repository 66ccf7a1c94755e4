import { namedErrorText } from '../../core/text/error-text.ts';
import type { AwsJsonService } from '../../ports/aws-service.ts';
import type { SecretReading } from '../../ports/secret-source.ts';

/** The answer to `GetParameter`. */
interface ParameterValue {
  readonly Parameter?: { readonly Value?: string | undefined } | undefined;
}

/** Returns how to read the current, decrypted value of a parameter of AWS Systems Manager, by name or ARN. */
export function parameterReader(
  getParameter: (input: { readonly Name: string; readonly WithDecryption: true }) => Promise<ParameterValue>,
): (parameter: string) => Promise<SecretReading> {
  return async (parameter) => {
    try {
      const { Parameter } = await getParameter({ Name: parameter, WithDecryption: true });
      if (Parameter?.Value !== undefined) return { ok: true, value: Parameter.Value };
      return { ok: false, problem: 'it has no value' };
    } catch (error) {
      return { ok: false, problem: namedErrorText(error) };
    }
  };
}

/** The same by our own client, for functions on Lambda. */
export function slimParameterStore(service: AwsJsonService): (parameter: string) => Promise<SecretReading> {
  return parameterReader((input) => service.call<ParameterValue>('GetParameter', input));
}
