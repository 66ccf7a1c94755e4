import { pushTokenCheck, type RefusePush } from '../../adapters/json-web-tokens/push-token.ts';
import type { JsonLog } from '../../adapters/log/json-log.ts';
import { systemClock } from '../../adapters/system/system.ts';
import type { PushTrust } from '../../config/settings/groups/push.ts';

/** Checks the tokens of pushes as configured. Logs a warning if they are not checked. */
export function pushAuthenticationFromConfig(trust: PushTrust, log: JsonLog): RefusePush {
  if (trust.auth !== 'none')
    return pushTokenCheck({ ...trust, isVerifiedByCloudRun: trust.auth === 'iam', now: systemClock.now });
  log.line('warn', 'pushes are accepted without a token, from anyone who can reach this port');
  return async () => undefined;
}
