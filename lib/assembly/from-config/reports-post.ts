import { type PostReports, signedPost } from '../../adapters/gateway-http/signed-post.ts';
import { httpClient } from '../../adapters/http-client/http-client.ts';
import { systemClock } from '../../adapters/system/system.ts';
import type { Reporting } from '../../config/settings/host-config.ts';
import { defined } from '../../core/text/defined.ts';

/** Sends signed reports to the gateway over connections that stay open. Undefined if no gateway is configured. */
export function reportsPost({ gatewayUrl, gatewaySecret }: Reporting): PostReports | undefined {
  if (gatewayUrl === undefined) return undefined;
  return signedPost(
    { url: gatewayUrl, ...defined({ secret: gatewaySecret }) },
    httpClient(),
    systemClock.now,
  );
}
