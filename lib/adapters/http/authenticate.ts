import type { Caller } from '../../app/gateway/gateway.ts';

/** Who a token belongs to; undefined: nobody. Never throws. */
export type Authenticate = (token: string) => Promise<Caller | 'unavailable' | undefined>;

const MAX_TOKEN = 8_192;

/** The first that knows the token; nobody where none does. */
export function anyOf(ways: readonly Authenticate[]): Authenticate {
  return async (token) => {
    let isUnavailable = false;
    for (const way of ways) {
      const who = await way(token);
      if (typeof who === 'object') return who;
      isUnavailable ||= who === 'unavailable';
    }
    return isUnavailable ? 'unavailable' : undefined;
  };
}

/** `Authorization: Bearer …`, or `x-api-key`. */
export function tokenOf(headers: Headers): string | undefined {
  const [, bearer] = /^bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '') ?? [];
  const token = bearer ?? headers.get('x-api-key') ?? undefined;
  return token === undefined || token === '' || token.length > MAX_TOKEN ? undefined : token;
}
