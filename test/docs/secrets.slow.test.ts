import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { secretsManager } from '../../lib/adapters/secrets-manager/read-secret.ts';
import { parameterStore } from '../../lib/adapters/ssm/read-parameter.ts';
import { endDevs, startDevIn } from '../cli/dev-process.ts';
import { asya } from '../cli/run-asya.ts';
import { aMeshInCode, jsonOf } from '../infra/a-mesh-in-code.ts';
import { functionOf } from '../infra/a-mesh-stack.ts';
import { outsideOf } from '../local/a-mesh.ts';
import { aFolder } from '../support/a-folder.ts';
import { motoAvailability, startMoto } from '../support/moto.ts';

/** Runs the examples of docs/secrets.md. */

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/secrets.md'), 'utf8');
const BLOCKS = [...PAGE.matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].map(([, language = '', text = '']) => ({
  language,
  text,
}));

function blockWith(language: string, text: string): string {
  const found = BLOCKS.find((block) => block.language === language && block.text.includes(text));
  if (found === undefined) throw new Error(`the page has no ${language} block with "${text}"`);
  return found.text;
}

const YAML = blockWith('yaml', '# score.yaml');
const HANDLER = blockWith('ts', '// score.ts');
const ENV = blockWith('sh', '# .env');
const CDK = blockWith('ts', 'mesh.addActor');

function aMesh(): string {
  const cwd = aFolder({});
  mkdirSync(join(cwd, 'my-mesh'));
  writeFileSync(join(cwd, 'my-mesh/score.yaml'), YAML);
  writeFileSync(join(cwd, 'my-mesh/score.ts'), HANDLER);
  return cwd;
}

afterAll(endDevs);

it('has no block that no test runs', () => {
  // The blocks above, a message, the output of asya env, and four blocks with commands.
  expect(BLOCKS.map(({ language }) => language).toSorted()).toEqual(
    ['', '', 'sh', 'sh', 'sh', 'sh', 'sh', 'ts', 'ts', 'yaml'].toSorted(),
  );
});

it('runs on this machine, with the message for a missing secret', { timeout: 180_000 }, async () => {
  const cwd = aMesh();
  const { OPENAI_API_KEY: _key, DATABASE_URL: _url, ...shell } = process.env;
  const dev = startDevIn(cwd, shell, 'my-mesh', '--plain');
  const { variables } = await dev.untilRunning();
  await dev.untilPrinted(blockWith('', 'actor "score" waits').trim());
  const outside = outsideOf(variables);
  await outside.send(['score'], 'waits', { text: 'hello' });
  writeFileSync(join(cwd, 'my-mesh/.env'), ENV);
  await dev.untilPrinted('score starts: it has all its secrets');
  const end = await outside.untilEnded('waits');
  expect(await outside.payloadOf(end)).toEqual({ text: 'hello', model: 'small', hasKey: true });
  expect(dev.output()).not.toContain('sk-example');
  await outside.close();
  dev.signal('SIGINT');
  expect((await dev.exited).code).toBe(0);
});

it('shows the variables of a handler', async () => {
  const cwd = aMesh();
  writeFileSync(join(cwd, 'my-mesh/.env'), ENV);
  const run = async (part: string) => {
    const [npx, command, ...argv] = blockWith('sh', part).trim().split(' ');
    expect([npx, command]).toEqual(['npx', 'asya']);
    return asya(argv, { cwd, env: { HOME: '/home/me', PATH: '/bin' } });
  };
  const compared = await run('npx asya env score my-mesh\n');
  for (const line of blockWith('', 'VARIABLE').trim().split('\n')) expect(compared.out).toContain(line);
  const lambda = await run('--host lambda');
  expect(lambda.out).toMatch(/^OPENAI_API_KEY +secret my\/openai of Secrets Manager, key api_key$/m);
});

it('is deployed from code, with references only', () => {
  const { mesh, stack } = aMeshInCode();
  new Function('mesh', CDK)(mesh);
  const { Variables } = functionOf(jsonOf(stack), 'score').Properties.Environment;
  expect(Variables).toMatchObject({ MODEL: 'small' });
  expect(JSON.parse(Variables['ASYA_RUNTIME_SECRETS'] as string)).toEqual({
    OPENAI_API_KEY: { secretsManager: 'my/openai', key: 'api_key' },
    DATABASE_URL: { ssm: '/my/database' },
  });
});

const noAws =
  spawnSync('aws', ['--version'], { stdio: 'ignore' }).status === 0 ? undefined : 'no aws command';
const unavailable = motoAvailability().unavailable ?? noAws;

describe.skipIf(unavailable !== undefined)(`the commands of AWS in moto ${unavailable ?? ''}`, () => {
  it('create and rotate the secrets', { timeout: 120_000 }, async () => {
    const moto = await startMoto();
    const { endpoint } = moto;
    const env = {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: 'us-east-1',
      AWS_DEFAULT_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
    };
    const shell = (commands: string) =>
      promisify(execFile)(
        '/bin/sh',
        ['-ec', commands.replaceAll(/^aws /gm, `aws --endpoint-url ${endpoint} `)],
        {
          env,
        },
      );
    const region = 'us-east-1';
    const read = secretsManager({ endpoint, region }, {});
    await shell(blockWith('sh', 'create-secret'));
    expect(await read('my/openai')).toEqual({ ok: true, value: '{"api_key":"sk-example"}' });
    expect(await parameterStore({ endpoint, region }, {})('/my/database')).toEqual({
      ok: true,
      value: 'postgres://db.example.com/my',
    });
    await shell(blockWith('sh', 'put-secret-value'));
    expect(await read('my/openai')).toEqual({ ok: true, value: '{"api_key":"sk-rotated"}' });
    await moto.close();
  });
});
