import type { Environment } from './environment.ts';

/** Whether an address lies on this machine: engines here check no credentials. */
export function isOnThisMachine(endpoint: string | undefined): boolean {
  const host = endpoint === undefined ? '' : new URL(endpoint).hostname;
  return host === 'localhost' || host === '[::1]' || /^127\./.test(host);
}

/**
 * An engine on this machine checks no credentials, but the SDK wants some: without any it would look for them over
 * the network for seconds.
 */
const LOCAL_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

/** What an AWS client is told of credentials: nothing, unless it would look for some in vain. */
export function credentialsFor(
  endpoint: string | undefined,
  env: Environment,
): { readonly credentials?: typeof LOCAL_CREDENTIALS } {
  const hasSome = Boolean(env['AWS_ACCESS_KEY_ID'] || env['AWS_PROFILE']);
  return isOnThisMachine(endpoint) && !hasSome ? { credentials: LOCAL_CREDENTIALS } : {};
}
