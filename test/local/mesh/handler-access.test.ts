import { expect, test } from 'vitest';
import type { ActorAccess, LocalAws } from '../../../lib/config/manifest/access.ts';
import { localHandlerAccess } from '../../../lib/local/mesh/handler-access.ts';

const S3 = 'http://127.0.0.1:4566';
const SHELL = {
  PATH: '/usr/bin',
  AWS_PROFILE: 'dev',
  AWS_REGION: 'eu-west-1',
  AWS_SESSION_TOKEN: 't',
  AWS_LAMBDA_FUNCTION_NAME: 'not-mine',
  BUCKET_PICTURES: 'my-pictures',
  SECRET: 's',
};

function access(localAws: LocalAws, more: Partial<ActorAccess> = {}): ActorAccess {
  const permissions = [{ actions: ['s3:PutObject'], resources: ['*'] }];
  return { permissions, buckets: ['pictures'], localAws, ...more };
}

test.each([
  ['without access', undefined],
  ['without permissions, on the profile', access('profile', { permissions: [] })],
  ['without permissions, on the engines', access('embedded', { permissions: [] })],
])('an actor %s gets nothing of the shell', (_title, given) => {
  expect(localHandlerAccess(given, S3, SHELL)).toEqual({ warnings: [] });
});

test('with the profile, the handler gets the AWS variables of the shell and nothing that hides the files', () => {
  expect(localHandlerAccess(access('profile'), S3, SHELL)).toEqual({
    env: {
      AWS_PROFILE: 'dev',
      AWS_REGION: 'eu-west-1',
      AWS_SESSION_TOKEN: 't',
      BUCKET_PICTURES: 'my-pictures',
      AWS_DEFAULT_REGION: null,
      AWS_CONFIG_FILE: null,
      AWS_SHARED_CREDENTIALS_FILE: null,
      AWS_EC2_METADATA_DISABLED: null,
      BOTO_CONFIG: null,
    },
    warnings: [],
  });
});

test('with the profile, a bucket without a name in the shell is reported', () => {
  const { env, warnings } = localHandlerAccess(access('profile'), S3, {});
  expect(env).not.toHaveProperty('BUCKET_PICTURES');
  expect(warnings).toEqual([
    'BUCKET_PICTURES is not set; set it to the name of a bucket in your account, or set spec.local.aws to "embedded"',
  ]);
});

test('with the engines, every service is at the engine and nothing of the shell is passed', () => {
  expect(localHandlerAccess(access('embedded'), S3, SHELL)).toEqual({
    env: {
      AWS_ENDPOINT_URL: S3,
      AWS_ENDPOINT_URL_S3: S3,
      AWS_ACCESS_KEY_ID: 'asya-handler',
      AWS_SECRET_ACCESS_KEY: 'local',
      BUCKET_PICTURES: 'pictures',
    },
    warnings: [],
  });
});
