import { pushTokenCheck, type RefusePush } from '../../adapters/json-web-tokens/push-token.ts';
import type { JsonLog } from '../../adapters/log/json-log.ts';
import { systemClock } from '../../adapters/system/system.ts';
import type { PushTrust } from '../../config/settings/groups/push.ts';

/** Who may push, as configured; that everybody may is said in the log. */
export function pushAuthenticationFromConfig(trust: PushTrust, log: JsonLog): RefusePush {
  if (trust.auth !== 'none')
    return pushTokenCheck({ ...trust, isCheckedBefore: trust.auth === 'iam', now: systemClock.now });
  log.line('warn', 'pushes are taken from anybody: no token is asked for');
  return async () => undefined;
}
