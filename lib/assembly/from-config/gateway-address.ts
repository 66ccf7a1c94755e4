import type { GatewayAddress } from '../../adapters/gateway-http/signed-post.ts';
import type { SidecarConfig } from '../../config/settings/sidecar-config.ts';
import { defined } from '../../core/text/defined.ts';

/** Where reports go, and what they are signed with. */
export function gatewayAddress({ gatewayUrl, gatewaySecret }: SidecarConfig): GatewayAddress | undefined {
  if (gatewayUrl === undefined) return undefined;
  return { url: gatewayUrl, ...defined({ secret: gatewaySecret }) };
}
