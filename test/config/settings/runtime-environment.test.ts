import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CREDENTIAL_VARIABLES } from '../../../lib/config/settings/credential-variables.ts';
import { readEnvironment } from '../../../lib/config/settings/environment.ts';
import { runtimeEnvironment, runtimeStart } from '../../../lib/config/settings/runtime-environment.ts';
import { SETTINGS } from '../../../lib/config/settings/settings.ts';
import type { Environment } from '../../../lib/config/settings/variables.ts';

const NODE = "exec 'node' 'runtime/asya-runtime.cjs' './handler.cjs.score'";

/** What the sidecar gives its runtime once it has read its whole configuration. Undefined if it has mistakes. */
function laterStart(own: Environment) {
  const reading = readEnvironment(own, () => ({ problem: 'there is no file' }));
  if ('mistakes' in reading) return undefined;
  const { runtime } = reading.config;
  return { command: runtime.command, env: runtimeEnvironment(runtime, own, { region: 'eu-west-1' }) };
}

const own: fc.Arbitrary<Environment> = fc
  .record(
    {
      ASYA_ACTOR_NAME: fc.constant('score'),
      ASYA_RUNTIME_COMMAND: fc.constantFrom(
        NODE,
        'node asya-runtime.ts ./score.ts.score',
        'python3 asya_runtime.py score.score',
        './mine',
        '',
      ),
      ASYA_CONCURRENCY: fc.constantFrom('1', '7', '', '0', 'x'),
      ASYA_RUNTIME_PASS_ENV: fc.constantFrom('', 'AWS_PROFILE', 'AWS_SESSION_TOKEN,GITHUB_TOKEN', ','),
      ASYA_RUNTIME_ENV: fc.constantFrom(
        '',
        '{"A":"1","HOME":null}',
        '{"ASYA_RUNTIME_FD":"9","ASYA_RUNTIME_ANSWER_FD":"9"}',
        '[]',
      ),
      ASYA_RUNTIME_PROTOCOL: fc.constantFrom('', 'payload', 'envelope'),
      ASYA_RUNTIME_URL: fc.constantFrom('', 'asya:/tmp/a.sock', 'http://127.0.0.1/'),
      ASYA_RUNTIME_STARTUP_TIMEOUT: fc.constantFrom('', '10s', 'x'),
      ASYA_RUNTIME_SECRETS: fc.constantFrom('', '{}', '{"KEY":{"ssm":"/key"}}'),
      ASYA_RUNTIME_ROLE_ARN: fc.constantFrom('', 'arn:aws:iam::111122223333:role/handler'),
      ASYA_SOCKET_PATH: fc.constantFrom('', '/tmp/b.sock'),
      ASYA_GATEWAY_SECRET: fc.constant('s'.repeat(40)),
      AWS_ACCESS_KEY_ID: fc.constant('id'),
      AWS_SESSION_TOKEN: fc.constant('token'),
      AWS_PROFILE: fc.constant('me'),
      AWS_REGION: fc.constant('us-east-1'),
      HOME: fc.constant('/root'),
      MY_OWN: fc.string(),
    },
    { requiredKeys: ['ASYA_ACTOR_NAME'], noNullPrototype: true },
  )
  .map((variables) => variables as Environment);

describe('a runtime that is started before the configuration is read', () => {
  it('has the command and the environment of one that is started afterwards', () => {
    fc.assert(
      fc.property(own, (variables) => {
        const start = runtimeStart(variables);
        const later = laterStart(variables);
        // A configuration with mistakes ends the process, and the runtime with it.
        fc.pre(start !== undefined && later !== undefined);
        expect(start).toEqual(later);
      }),
    );
  });

  it('is started only if nothing else has to be read', () => {
    const given = { ASYA_RUNTIME_COMMAND: NODE };
    const env = { ASYA_RUNTIME_FD: '4', ASYA_RUNTIME_ANSWER_FD: '5' };
    expect(runtimeStart(given)).toMatchObject({ command: NODE, env });
    for (const more of [
      { ASYA_RUNTIME_SECRETS: '{"KEY":{"ssm":"/key"}}' },
      { ASYA_RUNTIME_ROLE_ARN: 'arn:aws:iam::111122223333:role/handler' },
      { ASYA_RUNTIME_URL: 'asya:/tmp/a.sock' },
      { ASYA_RUNTIME_PROTOCOL: 'envelope' },
      { ASYA_CONCURRENCY: 'many' },
      { ASYA_RUNTIME_COMMAND: './mine' },
      { ASYA_RUNTIME_COMMAND: '' },
    ])
      expect(runtimeStart({ ...given, ...more })).toBeUndefined();
  });

  it('does not get credentials of the sidecar', () => {
    const { env } = runtimeStart({ ASYA_RUNTIME_COMMAND: NODE, AWS_ACCESS_KEY_ID: 'id', A: '1' }) ?? {};
    expect(env).toMatchObject({ A: '1', AWS_EC2_METADATA_DISABLED: 'true' });
    expect(env).not.toHaveProperty('AWS_ACCESS_KEY_ID');
  });
});

it('the list of variables with credentials is that of the settings', () => {
  const secret = Object.values(SETTINGS).filter(({ isSecret, hasPassword }) => isSecret || hasPassword);
  expect(CREDENTIAL_VARIABLES).toEqual(secret.map(({ variable }) => variable));
});

describe('the address of a runtime that the sidecar starts', () => {
  const addressOf = (command: string, more: Environment = {}) => {
    const reading = readEnvironment(
      { ASYA_ACTOR_NAME: 'score', ASYA_RUNTIME_COMMAND: command, ...more },
      () => ({ problem: 'there is no file' }),
    );
    return 'config' in reading ? reading.config.runtime.address : reading.mistakes;
  };

  it('is an inherited descriptor if the runtime is a bundled one, and no address is configured', () => {
    for (const command of [
      NODE,
      'npx node node_modules/asya-serverless/dist/runtimes/node/asya-runtime.js ./score.js.score',
    ])
      expect(addressOf(command)).toEqual({ kind: 'inherited' });
    expect(addressOf(NODE, { ASYA_SOCKET_PATH: '/tmp/a.sock' })).toEqual({ kind: 'inherited' });
  });

  it('is a socket otherwise', () => {
    expect(addressOf('./mine')).toEqual({ kind: 'socket', path: '/tmp/sockets/app.sock' });
    expect(addressOf(NODE, { ASYA_RUNTIME_URL: 'asya:/tmp/a.sock' })).toEqual({
      kind: 'asya',
      path: '/tmp/a.sock',
    });
    expect(addressOf(NODE, { ASYA_RUNTIME_PROTOCOL: 'envelope' })).toEqual({
      kind: 'socket',
      path: '/tmp/sockets/app.sock',
    });
  });
});
