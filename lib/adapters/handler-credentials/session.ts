import type { Credentials } from './credentials.ts';

export interface AssumeRoleOptions {
  readonly roleArn: string;
  readonly region: string;
  /** Part of the session's name, which CloudTrail records. */
  readonly actor: string;
}

/** The maximum when one role assumes another, whatever the role's own maximum is. */
const DURATION_SECONDS = 3_600;
const MAX_SESSION_NAME = 64;

/** The input of `AssumeRole`. */
export function sessionOf({ roleArn, actor }: AssumeRoleOptions) {
  return {
    RoleArn: roleArn,
    RoleSessionName: `asya-${actor}`.slice(0, MAX_SESSION_NAME),
    DurationSeconds: DURATION_SECONDS,
  } as const;
}

/** The credentials in an answer of STS. Throws if they are not complete. */
export function grantedCredentials(granted: {
  readonly AccessKeyId?: string | undefined;
  readonly SecretAccessKey?: string | undefined;
  readonly SessionToken?: string | undefined;
  readonly Expiration?: Date | undefined;
}): Credentials {
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = granted;
  const expiresAt = Expiration?.getTime() ?? Number.NaN;
  if (!AccessKeyId || !SecretAccessKey || !SessionToken || Number.isNaN(expiresAt))
    throw new Error('the answer of STS has no credentials');
  return {
    accessKeyId: AccessKeyId,
    secretAccessKey: SecretAccessKey,
    sessionToken: SessionToken,
    expiresAt,
  };
}
