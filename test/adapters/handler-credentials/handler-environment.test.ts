import { expect, test } from 'vitest';
import { handlerEnvironment } from '../../../lib/adapters/handler-credentials/handler-environment.ts';
import { runtimeEnvironment } from '../../../lib/adapters/runtime-process/runtime-environment.ts';

const LAMBDA = {
  PATH: '/usr/bin',
  AWS_REGION: 'eu-west-1',
  AWS_ACCESS_KEY_ID: 'the function',
  AWS_SECRET_ACCESS_KEY: 'the function',
  AWS_SESSION_TOKEN: 'the function',
  AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://169.254.170.2/the-function',
  AWS_CONTAINER_AUTHORIZATION_TOKEN: 'the function',
};
const SERVED = {
  AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://127.0.0.1:4000/credentials',
  AWS_CONTAINER_AUTHORIZATION_TOKEN: 'token',
};
const NONE = {
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  AWS_EC2_METADATA_DISABLED: 'true',
};

function environment(passed: readonly string[], more: object = {}) {
  const inherited = runtimeEnvironment(LAMBDA, passed);
  return handlerEnvironment({ inherited, passed, region: 'eu-central-1', ...more });
}

test('a handler without a role finds no credentials, neither in files nor in metadata', () => {
  expect(environment([])).toEqual({ PATH: '/usr/bin', AWS_REGION: 'eu-west-1', ...NONE });
});

test('a handler with a role finds only the credentials of this role', () => {
  expect(environment([], { credentials: SERVED })).toEqual({
    PATH: '/usr/bin',
    AWS_REGION: 'eu-west-1',
    ...NONE,
    ...SERVED,
  });
});

test('a handler with a role gets the region of the sidecar if there is no other', () => {
  const given = { inherited: {}, passed: [], region: 'eu-central-1' };
  expect(handlerEnvironment({ ...given, credentials: SERVED })['AWS_REGION']).toBe('eu-central-1');
  expect(handlerEnvironment(given)['AWS_REGION']).toBeUndefined();
});

test('ASYA_RUNTIME_PASS_ENV with variables of AWS decides where the handler finds credentials', () => {
  expect(environment(['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])).toEqual({
    PATH: '/usr/bin',
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'the function',
    AWS_SECRET_ACCESS_KEY: 'the function',
  });
});

test('ASYA_RUNTIME_ENV adds, replaces and removes variables', () => {
  const own = { AWS_PROFILE: 'dev', AWS_REGION: 'us-east-1', AWS_CONFIG_FILE: null };
  expect(environment([], { own })).toEqual({
    PATH: '/usr/bin',
    AWS_REGION: 'us-east-1',
    AWS_PROFILE: 'dev',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
  });
});
