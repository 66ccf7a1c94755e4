import { describeReceived, describeValue } from '../../core/text/describe-value.ts';
import { isFields } from '../../core/text/fields.ts';
import { addUnknownKeys, type MistakeCollector } from '../../core/text/mistake.ts';
import { isCloudCredential } from './cloud-credentials.ts';

/** Where the value of a secret variable is stored. The value itself is never part of a configuration. */
export type SecretReference =
  /** A secret of AWS Secrets Manager by name or ARN. With `key`, one value of a secret that is a JSON object. */
  | { readonly secretsManager: string; readonly key?: string }
  /** A parameter of the AWS Systems Manager Parameter Store by name or ARN. */
  | { readonly ssm: string };

/** By variable. */
export type SecretReferences = Readonly<Record<string, SecretReference>>;

const EXAMPLES = '{secretsManager: my/openai, key: api_key} or {ssm: /my/openai}';

/**
 * The names become part of a permission, in which `*` would mean other secrets too. Letters, digits and `/_+=.@-` are
 * what Secrets Manager allows.
 */
const SECRET_NAME = /^[\w/+=.@-]{1,512}$/;
const SECRET_ARN = /^arn:aws[\w-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:[\w/+=.@-]{1,512}-[A-Za-z0-9]{6}$/;
const PARAMETER_NAME = /^(\/[\w.-]+)+$|^[\w.-]+$/;
const PARAMETER_ARN = /^arn:aws[\w-]*:ssm:[a-z0-9-]+:\d{12}:parameter(\/[\w.-]+)+$/;
const MAX_PARAMETER_NAME = 1_011;

const SECRET_RULE =
  'expected the name of a secret, up to 512 letters, digits and "/_+=.@-", such as "my/openai", or its complete ARN';
const PARAMETER_RULE =
  'expected the name of a parameter, letters, digits and "_.-", with a leading "/" if it is a path, such as "/my/openai", or its ARN, without a version or label';

/** The reference, or undefined after reporting all its mistakes. `more` are fields that the caller reads. */
export function readSecretReference(
  value: unknown,
  notes: MistakeCollector,
  more: readonly string[] = [],
): SecretReference | undefined {
  if (!isFields(value)) {
    const isText = typeof value === 'string';
    // The value itself may be the secret, so it is not repeated.
    const received = isText ? 'is text' : describeReceived(value);
    notes.add(
      `${received}; expected a reference such as ${EXAMPLES}${isText ? '; use environment for a value that is not secret' : ''}`,
    );
    return undefined;
  }
  const { secretsManager, ssm, key } = value;
  addUnknownKeys(notes, value, ['secretsManager', 'key', 'ssm', ...more]);
  if (secretsManager !== undefined && ssm !== undefined) {
    notes.add('has both secretsManager and ssm; keep one of them');
    return undefined;
  }
  if (ssm !== undefined) return readParameter(ssm, key, notes);
  if (secretsManager !== undefined) return readSecret(secretsManager, key, notes);
  // Another key is likely a misspelled one, which has been reported.
  const isReported = Object.keys(value).some((name) => name !== 'key' && !more.includes(name));
  if (!isReported) notes.add(`has neither secretsManager nor ssm; expected ${EXAMPLES}`);
  return undefined;
}

function readSecret(name: unknown, key: unknown, notes: MistakeCollector): SecretReference | undefined {
  const isName = typeof name === 'string' && (SECRET_NAME.test(name) || SECRET_ARN.test(name));
  if (!isName) notes.at('secretsManager').add(`is ${describeValue(name)}; ${SECRET_RULE}`);
  if (key === undefined) return isName ? { secretsManager: name } : undefined;
  if (typeof key === 'string' && key !== '') return isName ? { secretsManager: name, key } : undefined;
  notes
    .at('key')
    .add(`is ${describeValue(key)}; expected a key of the secret's JSON object, such as "api_key"`);
  return undefined;
}

function readParameter(name: unknown, key: unknown, notes: MistakeCollector): SecretReference | undefined {
  if (key !== undefined)
    notes
      .at('key')
      .add('cannot be used with ssm, whose parameters have one value; use a parameter for each value');
  const isText = typeof name === 'string';
  if (
    isText &&
    (PARAMETER_ARN.test(name) || (PARAMETER_NAME.test(name) && name.length <= MAX_PARAMETER_NAME))
  )
    return key === undefined ? { ssm: name } : undefined;
  const path = isText ? `/${name.replace(/\/+$/, '')}` : '';
  const meant = PARAMETER_NAME.test(path) ? `; did you mean "${path}"?` : '';
  notes.at('ssm').add(`is ${describeValue(name)}; ${PARAMETER_RULE}${meant}`);
  return undefined;
}

const VARIABLE = /^[A-Za-z][A-Za-z0-9_]*$/;

/** Why a handler cannot have a variable of this name. Undefined: it can. */
export function variableNameProblem(name: string): string | undefined {
  if (/^ASYA_/i.test(name)) return 'is reserved: variables that start with ASYA_ are set by the mesh';
  if (isCloudCredential(name))
    return "is reserved: handlers do not receive variables with a cloud provider's credentials";
  return VARIABLE.test(name)
    ? undefined
    : 'is not a valid variable name; expected a letter, then letters, digits and "_"';
}

/** For logs and messages: `secret my/openai of Secrets Manager, key api_key`. */
export function secretDescription(reference: SecretReference): string {
  if ('ssm' in reference) return `parameter ${reference.ssm} of Systems Manager`;
  const { secretsManager, key } = reference;
  return `secret ${secretsManager} of Secrets Manager${key === undefined ? '' : `, key ${key}`}`;
}
