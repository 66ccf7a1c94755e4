import type { VariableMap } from '../../config/settings/handler-identity.ts';

/** With these an AWS SDK does not look for credentials in the user's files and in the metadata of a virtual machine. */
const NO_CREDENTIALS = {
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  AWS_EC2_METADATA_DISABLED: 'true',
} as const;

export interface HandlerEnvironment {
  /** The sidecar's variables without credentials. */
  readonly inherited: Readonly<Record<string, string>>;
  /** `ASYA_RUNTIME_PASS_ENV`. If it names a variable of AWS, it decides where the handler finds credentials. */
  readonly passed: readonly string[];
  /** The variables of the credentials server, if the handler has a role. */
  readonly credentials?: Readonly<Record<string, string>>;
  /** The region of the sidecar, for SDKs that find no other. */
  readonly region: string;
  /** `ASYA_RUNTIME_ENV`. */
  readonly own?: VariableMap;
}

/** The environment of a handler: credentials of its own role, or none. */
export function handlerEnvironment(options: HandlerEnvironment): Record<string, string> {
  const { inherited, passed, credentials, region, own = {} } = options;
  const isOpen = passed.some((name) => name.startsWith('AWS_'));
  const variables: Record<string, string | null> = {
    ...(credentials !== undefined && { AWS_REGION: region }),
    ...inherited,
    ...(isOpen ? {} : NO_CREDENTIALS),
    ...credentials,
    ...own,
  };
  return Object.fromEntries(
    Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== null),
  );
}
