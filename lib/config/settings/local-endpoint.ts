import { isOnThisMachine } from './addresses.ts';
import type { Environment } from './variables.ts';

/**
 * A local engine does not check credentials, but the SDK requires some. Without any, it would search for them over the
 * network for seconds.
 */
const LOCAL_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

/** Placeholder credentials for a local endpoint if the environment has none; otherwise the SDK finds its own. */
export function credentialsFor(
  endpoint: string | undefined,
  env: Environment,
): { readonly credentials?: typeof LOCAL_CREDENTIALS } {
  const hasSome = Boolean(env['AWS_ACCESS_KEY_ID'] || env['AWS_PROFILE']);
  return isOnThisMachine(endpoint) && !hasSome ? { credentials: LOCAL_CREDENTIALS } : {};
}
