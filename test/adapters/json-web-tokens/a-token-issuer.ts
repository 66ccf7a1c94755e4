import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { anHttpServer, type HttpServer } from '../../delayer/a-http-server.ts';

export const AUDIENCE = 'https://score.example.com';
export const PUSHER = 'pusher@shop.iam.gserviceaccount.com';

export interface TokenIssuer extends HttpServer {
  /** The keys that it publishes. */
  readonly keys: string;
  /** A token like Google's for a push, with these changes. */
  token(changes?: TokenChanges): Promise<string>;
  /** A token whose signature Cloud Run has verified and removed. */
  stripped(changes?: TokenChanges): Promise<string>;
  /** A token signed with a key that is not published. */
  forged(): Promise<string>;
}

export interface TokenChanges {
  readonly issuer?: string;
  readonly audience?: string;
  readonly claims?: JWTPayload;
  readonly expiresInSeconds?: number;
}

const made = new Map<string, ReturnType<typeof generateKeyPair>>();

/** One key pair for each name, because generating a pair takes longer than the rest of a test. */
function keyPair(name: string): ReturnType<typeof generateKeyPair> {
  const pair = made.get(name) ?? generateKeyPair('RS256');
  made.set(name, pair);
  return pair;
}

/** Signs tokens like Google, and publishes its keys. */
export async function aTokenIssuer(kid = 'k1'): Promise<TokenIssuer> {
  const keys = await keyPair(kid);
  const others = await keyPair(`not ${kid}`);
  const jwk = { ...(await exportJWK(keys.publicKey)), kid, alg: 'RS256', use: 'sig' };
  const published = JSON.stringify({ keys: [jwk] });
  const server = await anHttpServer(() => ({ status: 200, body: published }));

  function sign(key: typeof keys.privateKey, changes: TokenChanges): Promise<string> {
    const { issuer = 'https://accounts.google.com', audience = AUDIENCE, expiresInSeconds = 3_600 } = changes;
    const seconds = Math.floor(Date.now() / 1000);
    return new SignJWT({ email: PUSHER, email_verified: true, sub: '113', azp: '113', ...changes.claims })
      .setProtectedHeader({ alg: 'RS256', kid, typ: 'JWT' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt(seconds - 60)
      .setExpirationTime(seconds + expiresInSeconds)
      .sign(key);
  }

  return {
    ...server,
    keys: published,
    token: (changes = {}) => sign(keys.privateKey, changes),
    stripped: async (changes = {}) =>
      (await sign(keys.privateKey, changes)).replace(/[^.]*$/, 'SIGNATURE_REMOVED_BY_GOOGLE'),
    forged: () => sign(others.privateKey, {}),
  };
}
