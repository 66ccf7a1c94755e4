import { readFileSync } from 'node:fs';
import { apiKeyAuthentication } from '../../adapters/http/api-keys.ts';
import { type Authenticate, anyOf } from '../../adapters/http/authenticate.ts';
import { tokenAuthentication } from '../../adapters/json-web-tokens/caller-token.ts';
import { systemClock } from '../../adapters/system/system.ts';
import { type ApiKey, readApiKeys } from '../../config/settings/api-keys.ts';
import type { GatewaySettings } from '../../config/settings/host-config.ts';
import { type Mistake, mistakeCollector, mistakesText } from '../../core/text/mistake.ts';

/**
 * Authentication by API keys and, if an issuer is configured, by tokens. Without either, every request is rejected.
 * Throws an error with a message for the operator if a setting is invalid.
 */
export function authenticationFromConfig(settings: GatewaySettings): Authenticate {
  const mistakes: Mistake[] = [];
  const keys = keysFrom(settings, mistakes);
  const { issuer, audience, jwksUrl } = settings;
  const hasIssuer = issuer !== undefined && audience !== undefined && jwksUrl !== undefined;
  if (!hasIssuer && (issuer ?? audience ?? jwksUrl) !== undefined) {
    const problem = 'must be set together with ASYA_GATEWAY_JWKS_URL: set all three or none';
    mistakes.push({ place: 'ASYA_GATEWAY_JWT_ISSUER and ASYA_GATEWAY_JWT_AUDIENCE', problem });
  }
  if (mistakes.length > 0)
    throw new Error(`asya: invalid authentication settings\n${mistakesText(mistakes)}`);
  return anyOf([
    apiKeyAuthentication(keys, systemClock.now),
    ...(hasIssuer ? [tokenAuthentication({ issuer, audience, jwksUrl })] : []),
  ]);
}

function keysFrom({ keys, keysFile }: GatewaySettings, mistakes: Mistake[]): readonly ApiKey[] {
  const inPlace =
    keys === undefined ? [] : readApiKeys(keys, mistakeCollector(mistakes, 'ASYA_GATEWAY_KEYS'));
  if (keysFile === undefined) return inPlace;
  try {
    return [...inPlace, ...readApiKeys(readFileSync(keysFile, 'utf8'), mistakeCollector(mistakes, keysFile))];
  } catch (error) {
    mistakes.push({
      place: 'ASYA_GATEWAY_KEYS_FILE',
      problem: `cannot be read: ${(error as Error).message}`,
    });
    return inPlace;
  }
}
