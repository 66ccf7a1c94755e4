import { CREDENTIAL_VARIABLES } from '../../config/settings/settings.ts';

/** Variables of the cloud providers with which a handler could use the sidecar's permissions. */
const CLOUD_CREDENTIALS = [
  /^AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|SECURITY_TOKEN)$/,
  /^AWS_(CONTAINER_|WEB_IDENTITY_|ROLE_|CREDENTIAL_|SHARED_CREDENTIALS_FILE$|CONFIG_FILE$)/,
  /^AWS_(DEFAULT_)?PROFILE$/,
  /^AWS_LAMBDA_RUNTIME_API$/,
  /^(GOOGLE_APPLICATION_CREDENTIALS|GOOGLE_OAUTH_ACCESS_TOKEN)$/,
];

type Environment = Readonly<Record<string, string | undefined>>;

/** The runtime's environment: the sidecar's without credentials, except those in `passed`. */
export function runtimeEnvironment(own: Environment, passed: readonly string[]): Record<string, string> {
  const entries = Object.entries(own).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isPassed(entry[0], passed),
  );
  return Object.fromEntries(entries);
}

function isPassed(name: string, passed: readonly string[]): boolean {
  if (passed.includes(name)) return true;
  return !CREDENTIAL_VARIABLES.includes(name) && !CLOUD_CREDENTIALS.some((pattern) => pattern.test(name));
}
