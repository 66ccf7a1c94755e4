import type { GatewayAddress } from '../../adapters/gateway-http/signed-post.ts';
import type { SidecarConfig } from '../../config/settings/sidecar-config.ts';
import { defined } from '../../core/text/defined.ts';

/** The URL for reports and the secret that signs them. Undefined if no gateway is configured. */
export function gatewayAddress({ gatewayUrl, gatewaySecret }: SidecarConfig): GatewayAddress | undefined {
  if (gatewayUrl === undefined) return undefined;
  return { url: gatewayUrl, ...defined({ secret: gatewaySecret }) };
}
