import { expect, test } from 'vitest';
import type { Credentials } from '../../../lib/adapters/handler-credentials/credentials.ts';
import { refreshedCredentials } from '../../../lib/adapters/handler-credentials/refreshed-credentials.ts';

const MINUTE = 60_000;

/** Credentials that last an hour, on a clock that the test sets. */
function aRole() {
  const state = { now: 0, requests: 0, problem: undefined as Error | undefined, warnings: 0 };
  const get = refreshedCredentials({
    request: async () => {
      state.requests++;
      if (state.problem !== undefined) throw state.problem;
      return credentials(`key-${state.requests}`, state.now + 60 * MINUTE);
    },
    now: () => state.now,
    onRefreshFailed: () => state.warnings++,
  });
  return {
    state,
    get,
    keyAt: async (now: number) => {
      state.now = now;
      return (await get()).accessKeyId;
    },
  };
}

function credentials(accessKeyId: string, expiresAt: number): Credentials {
  return { accessKeyId, secretAccessKey: 's', sessionToken: 't', expiresAt };
}

test('requests nothing before the first use', () => {
  expect(aRole().state.requests).toBe(0);
});

test('keeps credentials until a third of their lifetime is left, then requests new ones', async () => {
  const { keyAt } = aRole();
  expect(await keyAt(0)).toBe('key-1');
  expect(await keyAt(40 * MINUTE - 1)).toBe('key-1');
  expect(await keyAt(40 * MINUTE)).toBe('key-2');
  expect(await keyAt(80 * MINUTE - 1)).toBe('key-2');
});

test('requests new ones after a long freeze of the process', async () => {
  const { keyAt } = aRole();
  await keyAt(0);
  expect(await keyAt(5 * 60 * MINUTE)).toBe('key-2');
});

test('shares one request between calls that arrive together', async () => {
  const { get, state } = aRole();
  const keys = await Promise.all([get(), get(), get()]);
  expect(keys.map(({ accessKeyId }) => accessKeyId)).toEqual(['key-1', 'key-1', 'key-1']);
  expect(state.requests).toBe(1);
});

test('uses valid credentials if a refresh fails, and tries again with the next call', async () => {
  const { keyAt, state } = aRole();
  await keyAt(0);
  state.problem = new Error('STS does not answer');
  expect(await keyAt(45 * MINUTE)).toBe('key-1');
  expect(state.warnings).toBe(1);
  state.problem = undefined;
  expect(await keyAt(46 * MINUTE)).toBe('key-3');
});

test('rejects if a refresh fails and the credentials are about to expire', async () => {
  const { keyAt, state } = aRole();
  await keyAt(0);
  state.problem = new Error('STS does not answer');
  await expect(keyAt(60 * MINUTE - 29_000)).rejects.toThrow('STS does not answer');
  expect(state.warnings).toBe(0);
});

test('a failed first request is not remembered', async () => {
  const { keyAt, state } = aRole();
  state.problem = new Error('AccessDenied');
  await expect(keyAt(0)).rejects.toThrow('AccessDenied');
  state.problem = undefined;
  expect(await keyAt(1)).toBe('key-2');
});
