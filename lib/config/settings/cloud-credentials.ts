/** Variables of the cloud providers with which a handler could use the sidecar's permissions. */
const CLOUD_CREDENTIALS = [
  /^AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|SECURITY_TOKEN)$/,
  /^AWS_(CONTAINER_|WEB_IDENTITY_|ROLE_|CREDENTIAL_|SHARED_CREDENTIALS_FILE$|CONFIG_FILE$)/,
  /^AWS_(DEFAULT_)?PROFILE$/,
  /^AWS_LAMBDA_RUNTIME_API$/,
  /^BOTO_CONFIG$/,
  /^(GOOGLE_APPLICATION_CREDENTIALS|GOOGLE_OAUTH_ACCESS_TOKEN)$/,
];

/** API keys of single services. The manifest may give a handler one as a secret. */
const SERVICE_KEYS = /^AWS_BEARER_TOKEN_/;

/** Whether a variable of the sidecar contains credentials that its handler does not inherit. */
export function isSidecarCredential(name: string): boolean {
  return SERVICE_KEYS.test(name) || isCloudCredential(name);
}

/** Whether a variable selects or contains credentials of a cloud provider. The manifest cannot set such variables. */
export function isCloudCredential(name: string): boolean {
  return CLOUD_CREDENTIALS.some((pattern) => pattern.test(name));
}
