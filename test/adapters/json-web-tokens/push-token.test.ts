import { UnsecuredJWT } from 'jose';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { pushTokenCheck } from '../../../lib/adapters/json-web-tokens/push-token.ts';
import { anHttpServer } from '../../delayer/a-http-server.ts';
import { withoutRequestTimeouts } from '../../support/without-request-timeouts.ts';
import { AUDIENCE, aTokenIssuer, PUSHER, type TokenChanges, type TokenIssuer } from './a-token-issuer.ts';

withoutRequestTimeouts();

const RULES = { audience: AUDIENCE, serviceAccount: PUSHER, isVerifiedByCloudRun: false, now: Date.now };

async function aCheck(isVerifiedByCloudRun = false) {
  const issuer = await aTokenIssuer();
  const check = pushTokenCheck({ ...RULES, jwksUrl: issuer.url, isVerifiedByCloudRun });
  return { issuer, check };
}

describe('a push', () => {
  it("is accepted with Google's token, with both spellings of the issuer", async () => {
    const { issuer, check } = await aCheck();
    expect(await check(`Bearer ${await issuer.token()}`)).toBeUndefined();
    expect(await check(`bearer ${await issuer.token({ issuer: 'accounts.google.com' })}`)).toBeUndefined();
    expect(issuer.requests, 'the keys are fetched once').toHaveLength(1);
  });

  it.each([false, true])(
    'is refused with the received value in the answer (signature removed: %s)',
    async (isStripped) => {
      const { issuer, check } = await aCheck(isStripped);
      const make = isStripped ? issuer.stripped : issuer.token;
      const problemOf = async (changes: TokenChanges) =>
        (await check(`Bearer ${await make(changes)}`))?.problem ?? '';
      const audience = await problemOf({ audience: 'https://other.example.com' });
      expect(audience).toMatch(/is for "https:\/\/other\.example\.com", .* ASYA_PUSH_AUDIENCE/);
      const account = await problemOf({ claims: { email: 'eve@shop.iam.gserviceaccount.com' } });
      expect(account).toMatch(/belongs to "eve@shop\..*PUSH_SERVICE_ACCOUNT/);
      expect(audience + account, 'the answer does not reveal the expected value').not.toMatch(
        new RegExp(`${AUDIENCE}|${PUSHER}`),
      );
      expect(await problemOf({ issuer: 'https://accounts.example.com' })).toMatch(
        /issued by "https:\/\/accounts\.example\.com", not by Google/,
      );
      expect(await problemOf({ expiresInSeconds: -120 })).toMatch(/has expired: its "exp" is \d+/);
      expect(await problemOf({ claims: { email_verified: false } })).toMatch(/has not verified/);
    },
  );

  const refused: readonly [string, 401 | 403, (issuer: TokenIssuer) => Promise<string> | string][] = [
    ['another issuer', 401, (issuer) => issuer.token({ issuer: 'https://accounts.example.com' })],
    ['another audience', 401, (issuer) => issuer.token({ audience: 'https://other.example.com' })],
    ['an expiry in the past', 401, (issuer) => issuer.token({ expiresInSeconds: -120 })],
    ['an unknown signature', 401, (issuer) => issuer.forged()],
    ['no e-mail', 401, (issuer) => issuer.token({ claims: { email: undefined } })],
    [
      'another account',
      403,
      (issuer) => issuer.token({ claims: { email: 'eve@shop.iam.gserviceaccount.com' } }),
    ],
    ['an unverified account', 403, (issuer) => issuer.token({ claims: { email_verified: false } })],
    [
      'no signature',
      401,
      () =>
        new UnsecuredJWT({ email: PUSHER, email_verified: true })
          .setIssuer('https://accounts.google.com')
          .setAudience(AUDIENCE)
          .setExpirationTime('1h')
          .encode(),
    ],
    ['an invalid format', 401, () => 'nonsense'],
    ['10,000 characters', 401, () => 'x'.repeat(10_000)],
  ];

  it.each(refused)('with %s in its token is refused with %s', async (_, status, make) => {
    const { issuer, check } = await aCheck();
    expect(await check(`Bearer ${await make(issuer)}`)).toEqual({
      status,
      problem: expect.stringMatching(/./),
    });
  });

  it.each([undefined, '', 'Bearer', 'Basic dXNlcjpwYXNz'])(
    'with the header %j is refused',
    async (header) => {
      const { check } = await aCheck();
      expect(await check(header)).toMatchObject({
        status: 401,
        problem: expect.stringContaining('no token'),
      });
    },
  );

  it.each([
    ['return an error', { status: 500, body: 'no' }],
    ['are invalid', { status: 200, body: '{"keys":"none"}' }],
    ['cannot be reached', undefined],
  ])('is answered with 503 if the keys %s', async (_, answer) => {
    const issuer = await aTokenIssuer();
    const broken = await anHttpServer(() => answer);
    const check = pushTokenCheck({ ...RULES, jwksUrl: broken.url });
    expect(await check(`Bearer ${await issuer.token()}`)).toMatchObject({ status: 503 });
  });
});

describe("Google's keys", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('are fetched again for a token with a new key, but not for every unknown key', async () => {
    const [old, fresh] = [await aTokenIssuer('old'), await aTokenIssuer('fresh')];
    let published = old;
    const keys = await anHttpServer(() => ({ status: 200, body: published.keys }));
    const check = pushTokenCheck({ ...RULES, jwksUrl: keys.url });
    expect(await check(`Bearer ${await old.token()}`)).toBeUndefined();
    for (let n = 0; n < 3; n++)
      expect(await check(`Bearer ${await fresh.token()}`)).toMatchObject({ status: 401 });
    expect(keys.requests).toHaveLength(1);
    published = fresh;
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 });
    expect(await check(`Bearer ${await fresh.token()}`)).toBeUndefined();
    expect(await check(`Bearer ${await old.token()}`)).toMatchObject({ status: 401 });
    expect(keys.requests).toHaveLength(2);
  });
});

/** A token whose expiry is text and compares as later than any time. */
const NEVER_EXPIRING = [
  { alg: 'RS256' },
  { iss: 'accounts.google.com', aud: AUDIENCE, email: PUSHER, email_verified: true, exp: '9e99' },
]
  .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .concat('SIGNATURE_REMOVED_BY_GOOGLE')
  .join('.');

describe('a token whose signature Cloud Run removed', () => {
  it('is refused unless the configuration says that Cloud Run verifies tokens; the answer says how to fix it', async () => {
    const { issuer, check } = await aCheck();
    expect(await check(`Bearer ${await issuer.stripped()}`)).toMatchObject({
      status: 401,
      problem: expect.stringContaining('PUSH_AUTH=iam'),
    });
  });

  it('is accepted if Cloud Run verifies tokens, after all checks except the signature', async () => {
    const { issuer, check } = await aCheck(true);
    const eve = { claims: { email: 'eve@shop.iam.gserviceaccount.com' } };
    const statusOf = async (token: Promise<string>) => (await check(`Bearer ${await token}`))?.status;
    expect(await statusOf(issuer.stripped())).toBeUndefined();
    expect(await statusOf(issuer.stripped(eve))).toBe(403);
    expect(await statusOf(issuer.stripped({ claims: { email_verified: false } }))).toBe(403);
    expect(await statusOf(issuer.stripped({ issuer: 'https://accounts.example.com' }))).toBe(401);
    expect(await statusOf(issuer.stripped({ audience: 'https://other.example.com' }))).toBe(401);
    expect(await statusOf(issuer.stripped({ expiresInSeconds: -120 }))).toBe(401);
    expect(await statusOf(Promise.resolve(NEVER_EXPIRING))).toBe(401);
    expect(await check('Bearer nonsense.SIGNATURE_REMOVED_BY_GOOGLE')).toMatchObject({ status: 401 });
    expect(issuer.requests, 'no key was needed').toEqual([]);
  });

  it('is verified as usual if it still has its signature', async () => {
    const { issuer, check } = await aCheck(true);
    expect(await check(`Bearer ${await issuer.token()}`)).toBeUndefined();
    expect(await check(`Bearer ${await issuer.forged()}`)).toMatchObject({ status: 401 });
  });
});
