import { keysUrl } from '../addresses.ts';
import { hiddenText, listOf, secret, text, url, wholeNumber } from '../kinds.ts';
import { optional, setting } from '../setting.ts';

/** In the configuration: at the top level. Sidecars, the crew and the gateway read them. */
export const REPORTING = {
  gatewayUrl: optional('ASYA_GATEWAY_URL', url('http', 'https'), {
    about: 'URL of the gateway that receives progress reports.',
    unset: 'progress is not reported',
  }),
  gatewaySecret: optional('ASYA_GATEWAY_SECRET', secret, {
    about:
      'Secret that signs reports to the gateway. The gateway, the sidecars and the crew of a mesh use the same one.',
    unset: 'reports are not signed, and the gateway accepts none',
  }),
};

/** In the configuration: `gateway`. */
export const GATEWAY = {
  keys: optional('ASYA_GATEWAY_KEYS', hiddenText, {
    about:
      "API keys that may call the gateway: a JSON array of `{id, sha256, flows?, expires_at?}`, where `sha256` is the hash of the caller's key.",
    unset: 'no API keys',
  }),
  keysFile: optional('ASYA_GATEWAY_KEYS_FILE', text, {
    about: 'File with more API keys, in the format of `ASYA_GATEWAY_KEYS`.',
    unset: 'none',
  }),
  issuer: optional('ASYA_GATEWAY_JWT_ISSUER', text, {
    about: 'Issuer whose tokens (JWT) the gateway accepts.',
    unset: 'no tokens are accepted',
  }),
  audience: optional('ASYA_GATEWAY_JWT_AUDIENCE', text, {
    about: 'Audience that the tokens must have.',
    unset: 'none',
  }),
  jwksUrl: optional('ASYA_GATEWAY_JWKS_URL', keysUrl, {
    about: "URL of the issuer's public keys.",
    unset: 'none',
  }),
  origins: setting('ASYA_GATEWAY_ORIGINS', listOf(text), {
    about:
      'Origins of web pages that may call the gateway over MCP. Programs other than browsers send no origin and are always allowed.',
    default: '',
  }),
  flowsFile: optional('ASYA_GATEWAY_FLOWS_FILE', text, {
    about: 'Path of `flows.yaml`. The gateway requires it.',
    unset: 'none',
  }),
  port: setting('ASYA_GATEWAY_PORT', wholeNumber(0, 65_535), {
    about: 'Port of the gateway when it runs as a server. 0: any free port.',
    default: '8080',
  }),
  publicUrl: optional('ASYA_GATEWAY_PUBLIC_URL', url('http', 'https'), {
    about:
      'URL at which clients reach the gateway, for its agent card. Required behind a proxy that terminates TLS.',
    unset: 'the host of the request',
  }),
  ratePerSecond: setting('ASYA_GATEWAY_RATE', wholeNumber(1), {
    about: 'Requests per second that the gateway accepts from one caller.',
    default: '50',
  }),
};
