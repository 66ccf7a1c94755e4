import { isOnThisMachine } from './addresses.ts';
import type { Environment } from './variables.ts';

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
