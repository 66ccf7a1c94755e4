import { expect, test } from 'vitest';
import { handlerEnvironment } from '../../../lib/config/settings/handler-environment.ts';

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
  expect(handlerEnvironment({ own: { [name]: 'secret' }, passed: [], mesh: {} })).toEqual({});
  expect(handlerEnvironment({ own: { [name]: 'secret' }, passed: [name], mesh: {} })).toEqual({
    [name]: 'secret',
  });
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
  expect(handlerEnvironment({ own: { [name]: 'value', UNSET: undefined }, passed: [], mesh: {} })).toEqual({
    [name]: 'value',
  });
});
