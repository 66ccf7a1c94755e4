import { Stack } from 'aws-cdk-lib';
import { beforeAll, describe, expect, test } from 'vitest';
import { ActorMesh } from '../../infra/constructs/actor-mesh.ts';
import {
  anApp,
  DEV_WITH_GATEWAY,
  LETTERS,
  manifestIn,
  nameIn,
  type Resource,
  resourcesOf,
  STUB_CODE,
  type TemplateJson,
  templateOf,
} from './a-mesh-stack.ts';

let template: TemplateJson;
beforeAll(() => {
  template = templateOf(manifestIn(LETTERS), { environment: DEV_WITH_GATEWAY });
});

const functions = () => resourcesOf(template, 'AWS::Lambda::Function');
const variablesOf = ({ Properties }: Resource) => Properties.Environment.Variables as Record<string, unknown>;
const gateway = () => functions().find((one) => 'ASYA_GATEWAY_FLOWS_FILE' in variablesOf(one)) as Resource;
const timer = () =>
  functions().find(
    (one) =>
      variablesOf(one)['ASYA_ACTOR_NAME'] === 'x-gateway' && one.id !== (gateway() as { id?: string }).id,
  ) as Resource & { id: string };

function allowed({ Properties }: Resource, action: string): readonly string[] {
  const role = Properties.Role['Fn::GetAtt'][0];
  return resourcesOf(template, 'AWS::IAM::Policy')
    .filter((policy) => policy.Properties.Roles.some(({ Ref }: { Ref: string }) => Ref === role))
    .flatMap((policy) => policy.Properties.PolicyDocument.Statement)
    .filter(({ Action }) => [Action].flat().includes(action))
    .flatMap(({ Resource: on }) => [on].flat().map((arn) => nameIn(template, arn)))
    .sort();
}

describe('the gateway', () => {
  test('is a function URL that streams, and checks for itself who calls', () => {
    const [url, ...others] = resourcesOf(template, 'AWS::Lambda::Url');
    expect(others).toEqual([]);
    expect(url?.Properties).toMatchObject({ AuthType: 'NONE', InvokeMode: 'RESPONSE_STREAM' });
    expect(gateway().Properties.Timeout).toBe(900);
    expect(template.Outputs).toHaveProperty('GatewayUrl');
  });

  test('may send to where flows begin and to its own timers, and to nobody else', () => {
    const entrypoints = new Set(manifestIn(LETTERS).flows.map(({ entrypoint }) => entrypoint));
    expect(allowed(gateway(), 'sqs:SendMessage')).toEqual(
      [...entrypoints, 'x-gateway'].map((name) => `asya-dev-letters-${name}`).sort(),
    );
    expect(allowed(gateway(), 'sqs:ReceiveMessage')).toEqual([]);
    expect(allowed(gateway(), 's3:PutObject')).toEqual([]);
  });

  test('has timers that come again from its own queue, which x-dlq drains too', () => {
    const sources = resourcesOf(template, 'AWS::Lambda::EventSourceMapping').filter(
      ({ Properties }) => Properties.FunctionName.Ref === timer().id,
    );
    expect(sources.map(({ Properties }) => nameIn(template, Properties.EventSourceArn))).toEqual([
      'asya-dev-letters-x-gateway',
    ]);
    expect(allowed(timer(), 'sqs:SendMessage')).toEqual(['asya-dev-letters-x-gateway']);
    const drained = resourcesOf(template, 'AWS::Lambda::EventSourceMapping').map(({ Properties }) =>
      nameIn(template, Properties.EventSourceArn),
    );
    expect(drained).toContain('asya-dev-letters-x-gateway-dlq');
  });

  test('is reported to by every actor and the crew, with a secret that stands in no template', () => {
    const reporters = functions().filter((one) => variablesOf(one)['ASYA_ACTOR_NAME'] !== 'x-gateway');
    expect(reporters.length).toBeGreaterThanOrEqual(7);
    for (const one of reporters) {
      const { ASYA_GATEWAY_URL, ASYA_GATEWAY_SECRET } = variablesOf(one);
      expect(JSON.stringify(ASYA_GATEWAY_URL)).toContain('FunctionUrl');
      expect(JSON.stringify(ASYA_GATEWAY_SECRET)).toContain('resolve:secretsmanager');
    }
    expect(JSON.stringify(variablesOf(gateway())['ASYA_GATEWAY_KEYS'])).toContain('resolve:secretsmanager');
  });

  test('lets nobody in until somebody says who', () => {
    const keys = resourcesOf(template, 'AWS::SecretsManager::Secret').find(
      ({ Properties }) => Properties.SecretString !== undefined,
    );
    expect(keys?.Properties.SecretString).toBe('[]');
  });

  test('reads its keys again where a new word says so: a template that is the same changes nothing', () => {
    const changed = (keysVersion: string) => {
      const again = templateOf(manifestIn(LETTERS), { environment: DEV_WITH_GATEWAY, keysVersion });
      const before = template.Resources;
      return Object.keys(again.Resources).filter(
        (id) => JSON.stringify(again.Resources[id]) !== JSON.stringify(before[id]),
      );
    };
    expect(changed('2')).toEqual([(gateway() as { id?: string }).id]);
  });

  test('takes the tokens and the pages that its environment names', () => {
    const tokens = {
      issuer: 'https://issuer.example',
      audience: 'asya',
      jwksUrl: 'https://issuer.example/jwks',
    };
    const environment = { ...DEV_WITH_GATEWAY, gateway: { tokens, origins: ['https://app.example'] } };
    const made = templateOf(manifestIn(LETTERS), { environment });
    const told = resourcesOf(made, 'AWS::Lambda::Function').filter(
      (one) => 'ASYA_GATEWAY_JWT_ISSUER' in variablesOf(one),
    );
    expect(told.map(variablesOf)).toMatchObject([
      {
        ASYA_GATEWAY_JWT_ISSUER: tokens.issuer,
        ASYA_GATEWAY_JWT_AUDIENCE: tokens.audience,
        ASYA_GATEWAY_JWKS_URL: tokens.jwksUrl,
        ASYA_GATEWAY_ORIGINS: 'https://app.example',
      },
    ]);
  });

  test('may delete nothing: what failed lies in the same table', () => {
    for (const one of [gateway(), timer()]) expect(allowed(one, 'dynamodb:DeleteItem')).toEqual([]);
  });

  test('comes last: it offers the flows that are there', async () => {
    const { app } = await anApp();
    const mesh = new ActorMesh(new Stack(app, 'Hand'), 'Mesh', { namespace: 'dev-hand', code: STUB_CODE });
    mesh.addActor('score', { handler: 'score.ts.score' });
    mesh.addFlow('main', { entrypoint: 'score' });
    mesh.addGateway();
    expect(() => mesh.addFlow('late', { entrypoint: 'score' })).toThrow(/"late" comes after the gateway/);
    expect(() => mesh.addGateway()).toThrow(/has a gateway already/);
  });
});
