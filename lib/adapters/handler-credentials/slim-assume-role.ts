import type { AwsQueryService } from '../../ports/aws-service.ts';
import type { RequestCredentials } from './credentials.ts';
import { type AssumeRoleOptions, grantedCredentials, sessionOf } from './session.ts';

/** Assumes the role with the credentials of this process, by our own client: for functions on Lambda. */
export function slimAssumeRole(sts: AwsQueryService, options: AssumeRoleOptions): RequestCredentials {
  const { DurationSeconds, ...session } = sessionOf(options);
  return async () => {
    const { textOf } = await sts.call('AssumeRole', { ...session, DurationSeconds: String(DurationSeconds) });
    return grantedCredentials({
      AccessKeyId: textOf('AccessKeyId'),
      SecretAccessKey: textOf('SecretAccessKey'),
      SessionToken: textOf('SessionToken'),
      Expiration: new Date(textOf('Expiration') ?? ''),
    });
  };
}
