import type { STSClient } from '@aws-sdk/client-sts';
import type { RequestCredentials } from './credentials.ts';

export interface AssumeRoleOptions {
  readonly roleArn: string;
  readonly region: string;
  /** Part of the session's name, which CloudTrail records. */
  readonly actor: string;
}

/** The maximum when one role assumes another, whatever the role's own maximum is. */
const DURATION_SECONDS = 3_600;
const MAX_SESSION_NAME = 64;
const CONNECT_TIMEOUT_MS = 3_000;
const SOCKET_TIMEOUT_MS = 10_000;

/** Assumes the role with the credentials of this process. The client is loaded when the first credentials are requested. */
export function assumeRole({ roleArn, region, actor }: AssumeRoleOptions): RequestCredentials {
  let client: STSClient | undefined;
  return async () => {
    const { AssumeRoleCommand, STSClient: Client } = await import('@aws-sdk/client-sts');
    client ??= new Client({
      region,
      requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: SOCKET_TIMEOUT_MS },
    });
    const { Credentials: granted } = await client.send(
      new AssumeRoleCommand({
        RoleArn: roleArn,
        RoleSessionName: `asya-${actor}`.slice(0, MAX_SESSION_NAME),
        DurationSeconds: DURATION_SECONDS,
      }),
    );
    const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = granted ?? {};
    if (!AccessKeyId || !SecretAccessKey || !SessionToken || Expiration === undefined)
      throw new Error('the answer of STS has no credentials');
    return {
      accessKeyId: AccessKeyId,
      secretAccessKey: SecretAccessKey,
      sessionToken: SessionToken,
      expiresAt: Expiration.getTime(),
    };
  };
}
