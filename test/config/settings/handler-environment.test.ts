import { expect, test } from 'vitest';
import { handlerEnvironment } from '../../../lib/config/settings/handler-environment.ts';
import { variableNameProblem } from '../../../lib/config/settings/secret-reference.ts';
import type { Environment } from '../../../lib/config/settings/variables.ts';

function handed(own: Environment, passed: readonly string[]) {
  return handlerEnvironment({ own, passed, region: 'eu-central-1', mesh: {} });
}

test.each([
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_SECURITY_TOKEN',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_ROLE_ARN',
  'AWS_ROLE_SESSION_NAME',
  'AWS_CREDENTIAL_EXPIRATION',
  'AWS_SHARED_CREDENTIALS_FILE',
  'AWS_CONFIG_FILE',
  'AWS_PROFILE',
  'AWS_DEFAULT_PROFILE',
  'AWS_LAMBDA_RUNTIME_API',
  'GOOGLE_APPLICATION_CREDENTIALS',
  'ASYA_RABBITMQ_URL',
  'ASYA_GATEWAY_SECRET',
])('%s is not passed to the runtime unless it is listed', (name) => {
  expect(handed({ [name]: 'secret' }, [])).not.toHaveProperty(name, 'secret');
  expect(handed({ [name]: 'secret' }, [name])).toHaveProperty(name, 'secret');
});

test.each([
  'PATH',
  'HOME',
  'AWS_REGION',
  'AWS_DEFAULT_REGION',
  'ASYA_ACTOR_NAME',
  'OPENAI_API_KEY',
  'AWS_LAMBDA_FUNCTION_NAME',
])('%s is passed to the runtime', (name) => {
  const variables = handed({ [name]: 'value', UNSET: undefined }, []);
  expect(variables).toHaveProperty(name, 'value');
  expect(variables).not.toHaveProperty('UNSET');
});

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
  BOTO_CONFIG: '/dev/null',
};

function environment(passed: readonly string[], more: object = {}) {
  return handlerEnvironment({ own: LAMBDA, passed, region: 'eu-central-1', mesh: {}, ...more });
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
  const given = { own: {}, passed: [], region: 'eu-central-1', mesh: {} };
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
  const set = { AWS_PROFILE: 'dev', AWS_REGION: 'us-east-1', AWS_CONFIG_FILE: null };
  expect(environment([], { set })).toEqual({
    PATH: '/usr/bin',
    AWS_REGION: 'us-east-1',
    AWS_PROFILE: 'dev',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
    BOTO_CONFIG: '/dev/null',
  });
});

test('a secret replaces what the sidecar has, and what the sidecar sets replaces all others', () => {
  const secrets = { PATH: 'secret', ASYA_RUNTIME_URL: 'secret' };
  const mesh = { ASYA_RUNTIME_URL: 'asya:/tmp/app.sock' };
  const set = { ASYA_RUNTIME_URL: 'set' };
  expect(environment([], { secrets, set, mesh })).toMatchObject({ PATH: 'secret', ...mesh });
});

test('an API key of Bedrock is not inherited, but can be a secret of the handler', () => {
  const own = { AWS_BEARER_TOKEN_BEDROCK: 'the function' };
  const name = 'AWS_BEARER_TOKEN_BEDROCK';
  expect(environment([], { own })).not.toHaveProperty(name);
  expect(environment([name], { own })).toMatchObject({ [name]: 'the function' });
  expect(environment([], { own, secrets: { [name]: 'its own' } })).toMatchObject({ [name]: 'its own' });
  expect(variableNameProblem(name)).toBeUndefined();
});
