import { A2A_PROTOCOL_VERSION, A2A_VERSION_HEADER } from '@a2a-js/sdk';
import { A2A_LEGACY_PROTOCOL_VERSION } from '@a2a-js/sdk/compat/v0_3';

/** The supported versions: 1.0 (methods like `SendMessage`) and 0.3 (methods like `message/send`). */
export const V1_0 = A2A_PROTOCOL_VERSION;
export const V0_3 = A2A_LEGACY_PROTOCOL_VERSION;

/** The requested version. The protocol defines 0.3 as the default. Undefined if the version is not supported. */
export function versionOf({ headers }: Request): typeof V1_0 | typeof V0_3 | undefined {
  const version = headers.get(A2A_VERSION_HEADER) || V0_3;
  return version === V1_0 || version === V0_3 ? version : undefined;
}
