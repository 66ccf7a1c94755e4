import type { Caller } from '../../app/gateway/gateway.ts';

/** Returns the caller that a token belongs to, or undefined if the token is not valid. Never rejects. */
export type Authenticate = (token: string) => Promise<Caller | 'unavailable' | undefined>;

const MAX_TOKEN_LENGTH = 8_192;

/** Tries each method in order; the first one that accepts the token decides. */
export function anyOf(methods: readonly Authenticate[]): Authenticate {
  return async (token) => {
    let isUnavailable = false;
    for (const authenticate of methods) {
      const caller = await authenticate(token);
      if (typeof caller === 'object') return caller;
      isUnavailable ||= caller === 'unavailable';
    }
    return isUnavailable ? 'unavailable' : undefined;
  };
}

/** `Authorization: Bearer …`, or `x-api-key`. */
export function tokenOf(headers: Headers): string | undefined {
  const [, bearer] = /^bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '') ?? [];
  const token = bearer ?? headers.get('x-api-key') ?? undefined;
  return token === undefined || token === '' || token.length > MAX_TOKEN_LENGTH ? undefined : token;
}
