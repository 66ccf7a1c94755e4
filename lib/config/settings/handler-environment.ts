import { isSidecarCredential } from './cloud-credentials.ts';
import { CREDENTIAL_VARIABLES } from './credential-variables.ts';
import type { VariableMap } from './handler-identity.ts';
import type { Environment } from './variables.ts';

/** With these an AWS SDK does not look for credentials in the user's files and in the metadata of a virtual machine. */
const NO_CREDENTIALS = {
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  AWS_EC2_METADATA_DISABLED: 'true',
  // boto3 also reads ~/.boto, even before it asks the sidecar.
  BOTO_CONFIG: '/dev/null',
} as const;

/** With these an AWS SDK finds the credentials of the handler's role, which the sidecar serves. */
export const CREDENTIALS_SERVER_VARIABLES = [
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN',
] as const;

export interface HandlerEnvironmentInput {
  /** The environment of the sidecar. */
  readonly own: Environment;
  /**
   * Variables with credentials that the runtime receives all the same: `ASYA_RUNTIME_PASS_ENV`. If it names a variable of
   * AWS, it decides where the handler finds credentials.
   */
  readonly passed: readonly string[];
  /** The variables of the credentials server, if the handler has a role. */
  readonly credentials?: Readonly<Record<string, string>>;
  /** The region of the sidecar, for the SDKs of a handler with a role that find no other. Needed only with `credentials`. */
  readonly region?: string;
  /** Values of secrets by variable. They override the sidecar's variables. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** `ASYA_RUNTIME_ENV`. Overrides all above. */
  readonly set?: VariableMap;
  /** Variables that the sidecar sets for the runtime. They override all others. */
  readonly mesh: Readonly<Record<string, string>>;
}

/**
 * The environment of the process that runs a handler: the sidecar's without credentials, then credentials of the handler's
 * own role or none, then secrets, then what the sidecar sets. `asya env` shows the result of this function.
 */
export function handlerEnvironment(input: HandlerEnvironmentInput): Record<string, string> {
  const { own, passed, credentials, region, secrets, set, mesh } = input;
  const inherited = Object.entries(own).filter(([name]) => !isRemoved(name, passed));
  const variables: Record<string, string | null | undefined> = {
    ...(credentials !== undefined && { AWS_REGION: region }),
    ...Object.fromEntries(inherited),
    ...(choosesCredentials(passed) ? {} : NO_CREDENTIALS),
    ...credentials,
    ...secrets,
    ...set,
    ...mesh,
  };
  return Object.fromEntries(
    Object.entries(variables).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function choosesCredentials(passed: readonly string[]): boolean {
  return passed.some((name) => name.startsWith('AWS_'));
}

/** Whether a handler does not receive this variable of the sidecar. */
export function isRemoved(name: string, passed: readonly string[]): boolean {
  return !passed.includes(name) && (CREDENTIAL_VARIABLES.includes(name) || isSidecarCredential(name));
}
