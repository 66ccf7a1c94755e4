import { createHash, timingSafeEqual } from 'node:crypto';
import type { ApiKey } from '../../config/settings/api-keys.ts';
import { defined } from '../../core/text/defined.ts';
import type { Authenticate } from './authenticate.ts';

/** Compares the token with every key, in constant time, so that the duration reveals nothing about the keys. */
export function apiKeyAuthentication(keys: readonly ApiKey[], now: () => number): Authenticate {
  const known = keys.map((key) => ({ ...key, hash: Buffer.from(key.sha256, 'hex') }));
  return async (token) => {
    const hash = createHash('sha256').update(token).digest();
    const matching = known.filter((key) => timingSafeEqual(key.hash, hash));
    const valid = matching.find(({ expiresMs }) => expiresMs === undefined || now() < expiresMs);
    if (valid === undefined) return undefined;
    const { id, flows } = valid;
    return { id: `key:${id}`, ...defined({ flows }) };
  };
}
