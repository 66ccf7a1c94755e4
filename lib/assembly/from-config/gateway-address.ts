import type { GatewayAddress } from '../../adapters/gateway-http/signed-post.ts';
import type { Reporting } from '../../config/settings/host-config.ts';
import { defined } from '../../core/text/defined.ts';

/** The URL for reports and the secret that signs them. Undefined if no gateway is configured. */
export function gatewayAddress({ gatewayUrl, gatewaySecret }: Reporting): GatewayAddress | undefined {
  if (gatewayUrl === undefined) return undefined;
  return { url: gatewayUrl, ...defined({ secret: gatewaySecret }) };
}
