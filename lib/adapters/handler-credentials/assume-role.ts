import type { STSClient } from '@aws-sdk/client-sts';
import type { RequestCredentials } from './credentials.ts';
import { type AssumeRoleOptions, grantedCredentials, sessionOf } from './session.ts';

const CONNECT_TIMEOUT_MS = 3_000;
const SOCKET_TIMEOUT_MS = 10_000;

/** Assumes the role with the credentials of this process. The client is loaded when the first credentials are requested. */
export function assumeRole(options: AssumeRoleOptions): RequestCredentials {
  let client: STSClient | undefined;
  return async () => {
    const { AssumeRoleCommand, STSClient: Client } = await import('@aws-sdk/client-sts');
    client ??= new Client({
      region: options.region,
      requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: SOCKET_TIMEOUT_MS },
    });
    const { Credentials = {} } = await client.send(new AssumeRoleCommand(sessionOf(options)));
    return grantedCredentials(Credentials as Parameters<typeof grantedCredentials>[0]);
  };
}
