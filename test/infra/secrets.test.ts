import { expect, test } from 'vitest';
import { aMeshInCode as aMesh, jsonOf } from './a-mesh-in-code.ts';
import { functionOf, resourcesOf, type TemplateJson } from './a-mesh-stack.ts';

/** What is deployed for a handler's secrets: references and permissions, but never a value. */

const KEY = 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd';
const COMPLETE_ARN = 'arn:aws:secretsmanager:eu-west-1:111122223333:secret:other-AbCdEf';
const SECRETS = {
  OPENAI_API_KEY: { secretsManager: 'my/openai', key: 'api_key' },
  OPENAI_ORG: { secretsManager: 'my/openai', key: 'org', kmsKey: KEY },
  OTHER: { secretsManager: COMPLETE_ARN },
  DATABASE_URL: { ssm: '/my/database', kmsKey: KEY },
  PLAIN: { ssm: 'plain' },
};

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

/** The statements of all policies that allow one of the actions. */
function statementsFor(template: TemplateJson, action: RegExp): readonly Statement[] {
  return resourcesOf(template, 'AWS::IAM::Policy')
    .flatMap(({ Properties }) => Properties['PolicyDocument'].Statement as Statement[])
    .filter(({ Action }) => [Action].flat().some((one) => action.test(one)));
}

const inThisAccount = (service: string, rest: string) => ({
  'Fn::Join': [
    '',
    [
      'arn:',
      { Ref: 'AWS::Partition' },
      `:${service}:`,
      { Ref: 'AWS::Region' },
      ':',
      { Ref: 'AWS::AccountId' },
      rest,
    ],
  ],
});

test('the sidecar may read exactly the secrets of its actor', () => {
  const { mesh, stack } = aMesh();
  mesh.addActor('score', { handler: 'score.ts.score', secrets: SECRETS });
  mesh.addActor('store', { handler: 'score.ts.store' });
  const template = jsonOf(stack);
  expect(statementsFor(template, /^(secretsmanager|ssm|kms):/)).toEqual([
    {
      Effect: 'Allow',
      Action: 'secretsmanager:GetSecretValue',
      Resource: [COMPLETE_ARN, inThisAccount('secretsmanager', ':secret:my/openai-??????')],
    },
    {
      Effect: 'Allow',
      Action: 'ssm:GetParameter',
      Resource: [inThisAccount('ssm', ':parameter/my/database'), inThisAccount('ssm', ':parameter/plain')],
    },
    { Effect: 'Allow', Action: 'kms:Decrypt', Resource: KEY },
  ]);
});

test('the function has references instead of the variables', () => {
  const { mesh, stack } = aMesh();
  mesh.addActor('score', { handler: 'score.ts.score', environment: { MODEL: 'small' }, secrets: SECRETS });
  const { Variables } = functionOf(jsonOf(stack), 'score').Properties.Environment;
  for (const name of Object.keys(SECRETS)) expect(Variables).not.toHaveProperty(name);
  expect(Variables).toMatchObject({ MODEL: 'small' });
  expect(JSON.parse(Variables['ASYA_RUNTIME_SECRETS'] as string)).toEqual({
    OPENAI_API_KEY: { secretsManager: 'my/openai', key: 'api_key' },
    OPENAI_ORG: { secretsManager: 'my/openai', key: 'org' },
    OTHER: { secretsManager: COMPLETE_ARN },
    DATABASE_URL: { ssm: '/my/database' },
    PLAIN: { ssm: 'plain' },
  });
});

test('an actor without secrets has no setting and no permission for them', () => {
  const { mesh, stack } = aMesh();
  mesh.addActor('score', { handler: 'score.ts.score' });
  const template = jsonOf(stack);
  expect(statementsFor(template, /^(secretsmanager|ssm|kms):/)).toEqual([]);
  expect(functionOf(template, 'score').Properties.Environment.Variables).not.toHaveProperty(
    'ASYA_RUNTIME_SECRETS',
  );
});

test('mistakes in secrets are reported as in a manifest', () => {
  const { mesh } = aMesh();
  const add = (secrets: object) => () =>
    mesh.addActor('score', { handler: 'score.ts.score', secrets: secrets as never });
  expect(add({ KEY: { secretManager: 'my/openai' } })).toThrow(/did you mean "secretsManager"/);
  expect(add({ KEY: { ssm: '/my/*' } })).toThrow(/spec\.secrets\.KEY\.ssm: is "\/my\/\*"/);
});
