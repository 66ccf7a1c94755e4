import { A2A_PROTOCOL_VERSION, A2A_VERSION_HEADER } from '@a2a-js/sdk';
import { A2A_LEGACY_PROTOCOL_VERSION } from '@a2a-js/sdk/compat/v0_3';

/** The two that are spoken: `SendMessage` and its kind, and `message/send` and its kind. */
export const V1_0 = A2A_PROTOCOL_VERSION;
export const V0_3 = A2A_LEGACY_PROTOCOL_VERSION;

/** Who says nothing speaks the older one: that is the protocol's rule. Undefined: neither of them. */
export function versionOf({ headers }: Request): typeof V1_0 | typeof V0_3 | undefined {
  const asked = headers.get(A2A_VERSION_HEADER) || V0_3;
  return asked === V1_0 || asked === V0_3 ? asked : undefined;
}
