import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiKeyAuthentication } from '../../lib/adapters/http/api-keys.ts';
import { anyOf } from '../../lib/adapters/http/authenticate.ts';
import { tokenAuthentication } from '../../lib/adapters/json-web-tokens/caller-token.ts';
import { withoutRequestTimeouts } from '../support/without-request-timeouts.ts';
import { KEYS, MY_KEY, OLD_KEY, type ServedFixture, serveGateway } from './served-fixture.ts';

const ISSUER = 'https://issuer.example';
const AUDIENCE = 'asya';

let keys: Awaited<ReturnType<typeof generateKeyPair>>;
let foreign: Awaited<ReturnType<typeof generateKeyPair>>;
let issuer: Server;
let served: ServedFixture;
beforeAll(async () => {
  [keys, foreign] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')]);
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k', alg: 'ES256' };
  issuer = createServer((_, response) => response.end(JSON.stringify({ keys: [jwk] })));
  await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', () => resolve()));
  const jwksUrl = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/jwks`;
  const authenticate = anyOf([
    apiKeyAuthentication(KEYS, Date.now),
    tokenAuthentication({ issuer: ISSUER, audience: AUDIENCE, jwksUrl }),
  ]);
  served = await serveGateway({ authenticate });
});
afterAll(async () => {
  issuer.close();
  await served.close();
});

withoutRequestTimeouts();

interface Claims {
  readonly iss?: string;
  readonly aud?: string;
  readonly sub?: string;
  readonly exp?: number;
  readonly asya_flows?: unknown;
}

function token(claims: Claims = {}, by = keys.privateKey): Promise<string> {
  const whole = {
    iss: ISSUER,
    aud: AUDIENCE,
    sub: 'ann',
    exp: Math.floor(Date.now() / 1000) + 60,
    ...claims,
  };
  return new SignJWT(JSON.parse(JSON.stringify(whole)))
    .setProtectedHeader({ alg: 'ES256', kid: 'k' })
    .sign(by);
}

async function statusOf(headers: Readonly<Record<string, string>>): Promise<number> {
  const response = await fetch(`${served.url}/flows`, { headers });
  await response.arrayBuffer();
  return response.status;
}

const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

describe('an API key', () => {
  it('is accepted in either header', async () => {
    expect(await statusOf(bearer(MY_KEY))).toBe(200);
    expect(await statusOf({ 'x-api-key': MY_KEY })).toBe(200);
    expect(await statusOf({ authorization: `bearer  ${MY_KEY}` })).toBe(200);
  });

  it.each([
    ['missing', {}],
    ['wrong', bearer('asya_wrong')],
    ['too old', bearer(OLD_KEY)],
    ['too long', bearer('x'.repeat(9_000))],
    ['in another scheme', { authorization: `Basic ${MY_KEY}` }],
    ['its own hash', bearer(KEYS[0]?.sha256 ?? '')],
    ['empty', { authorization: 'Bearer ' }],
  ])('is rejected if it is %s', async (_, headers) => {
    expect(await statusOf(headers)).toBe(401);
  });
});

describe('a JWT', () => {
  it('is accepted with the right issuer, audience and lifetime', async () => {
    expect(await statusOf(bearer(await token()))).toBe(200);
  });

  it.each<[string, Claims]>([
    ['from another issuer', { iss: 'https://evil.example' }],
    ['for another audience', { aud: 'another' }],
    ['expired', { exp: 1_000 }],
    ['without an expiry', { exp: undefined as never }],
    ['without a subject', { sub: undefined as never }],
    ['for a subject that is too long', { sub: 'x'.repeat(600) }],
  ])('is rejected if it is %s', async (_, claims) => {
    expect(await statusOf(bearer(await token(claims)))).toBe(401);
  });

  it('is rejected with another signature or none', async () => {
    expect(await statusOf(bearer(await token({}, foreign.privateKey)))).toBe(401);
    const [, payload] = (await token()).split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    expect(await statusOf(bearer(`${none}.${payload}.`))).toBe(401);
    expect(await statusOf(bearer('a.b.c'))).toBe(401);
  });

  it('allows only the flows it names', async () => {
    const response = await fetch(`${served.url}/flows`, {
      headers: bearer(await token({ asya_flows: ['endless'] })),
    });
    expect(((await response.json()) as { flows: unknown[] }).flows).toHaveLength(1);
    const odd = await fetch(`${served.url}/flows`, { headers: bearer(await token({ asya_flows: 'all' })) });
    expect(((await odd.json()) as { flows: unknown[] }).flows).toHaveLength(0);
  });

  it('is answered with 503 if the issuer is down', async () => {
    const down = await serveGateway({
      authenticate: tokenAuthentication({
        issuer: ISSUER,
        audience: AUDIENCE,
        jwksUrl: 'http://127.0.0.1:1/jwks',
      }),
    });
    const response = await fetch(`${down.url}/flows`, { headers: bearer(await token()) });
    expect(response.status).toBe(503);
    await down.close();
  });
});

describe('an unauthenticated caller', () => {
  it('gets 401 for every path', async () => {
    for (const path of [
      '/flows',
      '/tasks',
      '/tasks/t-1',
      '/tasks/t-1/events',
      '/openapi.json',
      '/mcp',
      '/nothing',
      '/healthz/',
      '//healthz',
    ]) {
      const response = await fetch(`${served.url}${path}`);
      expect([path, response.status, response.headers.get('www-authenticate')]).toEqual([
        path,
        401,
        'Bearer',
      ]);
      await response.arrayBuffer();
    }
  });
});
