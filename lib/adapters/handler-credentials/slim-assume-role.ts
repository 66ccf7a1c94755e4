import { elementText } from '../../core/text/element-text.ts';
import type { AwsQueryService } from '../../ports/aws-service.ts';
import type { RequestCredentials } from './credentials.ts';
import { type AssumeRoleOptions, grantedCredentials, sessionOf } from './session.ts';

/** Assumes the role with the credentials of this process, by our own client: for functions on Lambda. */
export function slimAssumeRole(sts: AwsQueryService, options: AssumeRoleOptions): RequestCredentials {
  const { DurationSeconds, ...session } = sessionOf(options);
  return async () => {
    const answer = await sts.call('AssumeRole', { ...session, DurationSeconds: String(DurationSeconds) });
    return grantedCredentials({
      AccessKeyId: elementText(answer, 'AccessKeyId'),
      SecretAccessKey: elementText(answer, 'SecretAccessKey'),
      SessionToken: elementText(answer, 'SessionToken'),
      Expiration: new Date(elementText(answer, 'Expiration') ?? ''),
    });
  };
}
