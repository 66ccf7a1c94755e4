import { expect, onTestFinished, test, vi } from 'vitest';
import type { Credentials } from '../../../lib/adapters/handler-credentials/credentials.ts';
import { credentialsServer } from '../../../lib/adapters/handler-credentials/credentials-server.ts';
import { awsError } from '../../../lib/ports/aws-service.ts';
import { rawAnswer } from '../../support/raw-request.ts';

const CREDENTIALS: Credentials = {
  accessKeyId: 'AKIA',
  secretAccessKey: 'the-secret',
  sessionToken: 'the-session',
  expiresAt: Date.parse('2026-01-01T00:00:00Z'),
};

async function aServer(credentials: () => Promise<Credentials> = async () => CREDENTIALS) {
  const given = vi.fn(credentials);
  const warnings: unknown[] = [];
  const server = await credentialsServer({
    credentials: given,
    onWarning: (message, details) => warnings.push({ message, ...details }),
  });
  onTestFinished(() => server.close());
  const { AWS_CONTAINER_CREDENTIALS_FULL_URI: url = '', AWS_CONTAINER_AUTHORIZATION_TOKEN: token = '' } =
    server.variables;
  return { url, token, given, warnings, port: Number(new URL(url).port), close: server.close };
}

test('serves credentials in the form of a container, on 127.0.0.1', async () => {
  const { url, token } = await aServer();
  expect(new URL(url).hostname).toBe('127.0.0.1');
  const response = await fetch(url, { headers: { authorization: token } });
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(await response.json()).toEqual({
    AccessKeyId: 'AKIA',
    SecretAccessKey: 'the-secret',
    Token: 'the-session',
    Expiration: '2026-01-01T00:00:00.000Z',
  });
});

test('each server has its own long token', async () => {
  const tokens = [(await aServer()).token, (await aServer()).token];
  expect(new Set(tokens).size).toBe(2);
  for (const token of tokens) expect(token).toMatch(/^[\w-]{43}$/);
});

test.each([
  ['without a token', {}, 401, 'the request has no token'],
  ['with a wrong token', { authorization: 'guess' }, 401, 'the token is wrong'],
  ['with an empty token', { authorization: '' }, 401, 'the token is wrong'],
])('refuses a request of another process %s', async (_title, headers, status, reason) => {
  const { url, token, given, warnings } = await aServer();
  const response = await fetch(url, { headers });
  const text = await response.text();
  expect(response.status).toBe(status);
  expect(JSON.parse(text)).toMatchObject({ code: 'Unauthorized', message: reason });
  expect(warnings).toEqual([{ message: 'a request for credentials was refused', status, reason }]);
  expect(given).not.toHaveBeenCalled();
  for (const secret of [token, 'the-secret', 'guess'])
    expect(text + JSON.stringify(warnings)).not.toContain(secret);
});

test.each([
  ['another path', '/', 'GET', 404],
  ['a query', '/credentials?a=1', 'GET', 404],
  ['another method', '/credentials', 'POST', 405],
])('refuses %s, also with the token', async (_title, path, method, status) => {
  const { url, token, given } = await aServer();
  const response = await fetch(new URL(path, url), { method, headers: { authorization: token } });
  expect([response.status, given.mock.calls.length]).toEqual([status, 0]);
});

test('refuses browsers and other host names, also with the token', async () => {
  const { port, token, given } = await aServer();
  const host = ['Host', `127.0.0.1:${port}`] as const;
  const ask = async (...headers: readonly (readonly [string, string])[]) => {
    const all = [['Authorization', token] as const, ...headers];
    return (await rawAnswer(port, { target: '/credentials', headers: all })).status;
  };
  expect(await ask(host)).toBe(200);
  expect(await ask(host, ['Origin', 'null'])).toBe(403);
  expect(await ask(host, ['Sec-Fetch-Site', 'cross-site'])).toBe(403);
  expect(await ask(['Host', `evil.example:${port}`])).toBe(403);
  expect(await ask(['Host', `localhost:${port}`])).toBe(403);
  expect(given).toHaveBeenCalledTimes(1);
});

test('answers 400 if STS refuses the role, and 503 if STS cannot be reached or is asked too often', async () => {
  const refused = Object.assign(new Error('not allowed to assume it'), {
    name: 'AccessDenied',
    $metadata: { httpStatusCode: 403 },
  });
  for (const [error, status, code] of [
    [refused, 400, 'AccessDenied'],
    // As our own client on Lambda reports it.
    [awsError('AccessDenied', 'not allowed to assume it', 403), 400, 'AccessDenied'],
    [awsError('InternalFailure', 'sorry', 500), 503, 'InternalFailure'],
    [awsError('Throttling', 'Rate exceeded', 400), 503, 'Throttling'],
    [awsError('UnknownError', 'the service answered with status 429', 429), 503, 'UnknownError'],
    [new Error('connect ECONNREFUSED'), 503, 'Error'],
  ] as const) {
    const { url, token, warnings } = await aServer(() => Promise.reject(error));
    const response = await fetch(url, { headers: { authorization: token } });
    expect([response.status, await response.json()]).toEqual([
      status,
      { code, message: error.message, Code: code, Message: error.message },
    ]);
    expect(warnings).toMatchObject([{ message: 'the handler got no credentials' }]);
  }
});

test('does not answer after it was closed', async () => {
  const { url, token, close } = await aServer();
  await close();
  await expect(fetch(url, { headers: { authorization: token } })).rejects.toThrow();
});
