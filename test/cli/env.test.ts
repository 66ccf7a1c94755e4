import { chmodSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aFolder } from '../support/a-folder.ts';
import { asya } from './run-asya.ts';

const ACTORS = `apiVersion: asya.sh/v1alpha1
kind: AsyncActor
metadata: {name: score}
spec:
  handler: score.ts.score
  environment: {MODEL: small}
  secrets:
    OPENAI_API_KEY: {secretsManager: my/openai, key: api_key}
    DATABASE_URL: {ssm: /my/database}
---
apiVersion: asya.sh/v1alpha1
kind: AsyncActor
metadata: {name: remote}
spec: {url: 'http://127.0.0.1:9/invoke'}
`;

const SHELL = { PATH: '/bin', HOME: '/home/me', AWS_PROFILE: 'prod', DATABASE_URL: 'db-value', OTHER: 'x' };

function env(...argv: readonly string[]) {
  const cwd = aFolder({
    'm/actors.yaml': ACTORS,
    'm/score.ts': 'export const score = () => 1;\n',
    'm/.env': 'OPENAI_API_KEY=key-value\n',
  });
  return asya(['env', ...argv], { cwd, env: SHELL });
}

const rowOf = (out: string, name: string) =>
  out
    .split('\n')
    .find((line) => line.startsWith(`${name} `))
    ?.split(/ {2,}/);

describe('asya env', () => {
  it('compares all hosts', async () => {
    const { status, out } = await env('score', 'm');
    expect(status).toBe(0);
    expect(rowOf(out, 'VARIABLE')).toEqual(['VARIABLE', 'LOCAL', 'LAMBDA', 'WORKER', 'CLOUD-RUN']);
    expect(rowOf(out, 'MODEL')).toEqual(['MODEL', ...Array(4).fill('manifest')]);
    expect(rowOf(out, 'OPENAI_API_KEY')).toEqual([
      'OPENAI_API_KEY',
      '.env',
      ...Array(3).fill('Secrets Manager'),
    ]);
    expect(rowOf(out, 'DATABASE_URL')).toEqual([
      'DATABASE_URL',
      'shell',
      ...Array(3).fill('Systems Manager'),
    ]);
    expect(rowOf(out, 'HOME')).toEqual(['HOME', 'shell', '-', '-', '-']);
    expect(rowOf(out, 'LAMBDA_TASK_ROOT')).toEqual(['LAMBDA_TASK_ROOT', '-', 'Lambda', '-', '-']);
    expect(rowOf(out, 'K_SERVICE')).toEqual(['K_SERVICE', '-', '-', '-', 'Cloud Run']);
    for (const name of ['OTHER', 'AWS_PROFILE', 'AWS_SECRET_ACCESS_KEY', 'ASYA_RUNTIME_SECRETS'])
      expect(rowOf(out, name)).toBeUndefined();
    expect(
      Math.max(
        ...out
          .split('\n')
          .slice(0, 30)
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(100);
  });

  it('shows one host with the values that are not secret', async () => {
    const { out } = await env('score', 'm', '--host', 'local');
    expect(rowOf(out, 'MODEL')).toEqual(['MODEL', 'manifest', 'small']);
    expect(rowOf(out, 'HOME')).toEqual(['HOME', 'shell', '/home/me']);
    expect(rowOf(out, 'OPENAI_API_KEY')).toEqual(['OPENAI_API_KEY', 'secret, from .env']);
    const lambda = (await env('score', 'm', '--host', 'lambda')).out;
    expect(rowOf(lambda, 'OPENAI_API_KEY')).toEqual([
      'OPENAI_API_KEY',
      'secret my/openai of Secrets Manager, key api_key',
    ]);
  });

  it.each([[[]], [['--json']], [['--host', 'local']], [['--host', 'local', '--json']]])(
    'never prints the value of a secret: %j',
    async (options) => {
      const { raw } = await env('score', 'm', ...options);
      expect(raw).toContain('OPENAI_API_KEY');
      expect(raw).not.toMatch(/key-value|db-value/);
    },
  );

  it('lists a secret without a value as missing', async () => {
    const cwd = aFolder({ 'actors.yaml': ACTORS, 'score.ts': 'export const score = () => 1;\n' });
    const { status, out } = await asya(['env', 'score', cwd], { cwd, env: {} });
    expect(status).toBe(0);
    expect(rowOf(out, 'DATABASE_URL')?.[1]).toBe('missing');
    expect(out).toContain('no value for OPENAI_API_KEY (actors.yaml:8), DATABASE_URL (actors.yaml:9)');
  });

  it('says that a runtime elsewhere has its own environment', async () => {
    const { out } = await env('remote', 'm');
    expect(out).toContain('its runtime runs at http://127.0.0.1:9/invoke, which has its own environment');
  });

  it.each([
    [['scor', 'm'], 'asya: the mesh has no actor "scor"; did you mean "score"?'],
    [
      ['score', 'm', '--host', 'lamda'],
      'asya: --host is "lamda"; expected one of local, lambda, worker, cloud-run',
    ],
    [['score', 'm', '--host', ''], 'asya: --host is ""; expected one of local, lambda, worker, cloud-run'],
  ])('rejects %j', async (argv, message) => {
    const run = await env(...argv);
    expect(run.status).toBe(2);
    expect(run.err).toContain(message);
  });

  it('rejects a mesh that is not running', async () => {
    const run = await env('score', '--mesh', 'other');
    expect(run).toMatchObject({ status: 2, err: 'asya: no mesh "other" is running in this folder' });
  });
});

describe('a handler with permissions', () => {
  const withAccess = (local: string) => `apiVersion: asya.sh/v1alpha1
kind: AsyncActor
metadata: {name: store}
spec:
  handler: store.ts.store
  buckets: [pictures]
  permissions: [{actions: ['s3:PutObject'], resources: ['\${bucket:pictures}/*']}]
  local: {aws: ${local}}
`;
  const shell = { PATH: '/bin', AWS_SECRET_ACCESS_KEY: 'hidden-value', AWS_REGION: 'eu-north-1' };

  function storeEnv(local: string, ...options: readonly string[]) {
    const cwd = aFolder({
      'actors.yaml': withAccess(local),
      'store.ts': 'export const store = () => 1;\n',
    });
    return asya(['env', 'store', ...options, cwd], { cwd, env: shell });
  }

  it('gets the credentials of its role when deployed, and the profile of the shell locally', async () => {
    const { out, raw } = await storeEnv('profile');
    expect(rowOf(out, 'AWS_CONTAINER_CREDENTIALS_FULL_URI')).toEqual([
      'AWS_CONTAINER_CREDENTIALS_FULL_URI',
      '-',
      ...Array(3).fill('mesh'),
    ]);
    expect(rowOf(out, 'AWS_SECRET_ACCESS_KEY')).toEqual(['AWS_SECRET_ACCESS_KEY', 'shell', '-', '-', '-']);
    expect(rowOf(out, 'BUCKET_PICTURES')?.[2]).toBe('mesh');
    expect(raw).not.toContain('hidden-value');
  });

  it('shows the region of the shell, but no credentials', async () => {
    const { out, raw } = await storeEnv('profile', '--host', 'local');
    expect(rowOf(out, 'AWS_REGION')).toEqual(['AWS_REGION', 'shell', 'eu-north-1']);
    expect(rowOf(out, 'AWS_SECRET_ACCESS_KEY')).toEqual(['AWS_SECRET_ACCESS_KEY', 'shell']);
    expect(raw).not.toContain('hidden-value');
  });

  it('gets the embedded S3 if the manifest asks for it', async () => {
    const { out } = await storeEnv('embedded', '--host', 'local');
    expect(rowOf(out, 'AWS_ENDPOINT_URL_S3')?.[1]).toBe('mesh');
    expect(rowOf(out, 'BUCKET_PICTURES')?.[1]).toBe('mesh');
  });
});

describe('a handler in Python', () => {
  const PYTHON = `apiVersion: asya.sh/v1alpha1
kind: AsyncActor
metadata: {name: words}
spec: {handler: words.count}
`;

  /** An interpreter that only answers with its version, in the environment of this folder. */
  function pythonEnv(folder: string, version: string, started = '.') {
    const cwd = realpathSync(
      aFolder({
        'm/words.yaml': PYTHON,
        'm/words.py': 'def count(payload): pass\n',
        'start/.keep': '',
        [`${folder}/pyvenv.cfg`]: '',
        [`${folder}/bin/python`]: `#!/bin/sh\nprintf '%s\\n%s\\n' "$0" ${version}\n`,
      }),
    );
    chmodSync(join(cwd, folder, 'bin/python'), 0o755);
    const run = (...argv: readonly string[]) =>
      asya(['env', 'words', '--host', 'local', ...argv], { cwd: join(cwd, started), env: SHELL });
    return { cwd, run };
  }

  it('names the Python of the folder and of the current folder', async () => {
    expect((await pythonEnv('m/.venv', '3.12.4').run('m')).out).toContain(
      'Locally, the handler runs with Python 3.12.4 (.venv/bin/python).',
    );
    const { cwd, run } = pythonEnv('start/.venv', '3.13.1', 'start');
    expect((await run('../m')).out).toContain(
      `Locally, the handler runs with Python 3.13.1 (${cwd}/start/.venv/bin/python).`,
    );
  });

  it('names the Python of the folder in which the running mesh was started', async () => {
    const { cwd, run } = pythonEnv('start/.venv', '3.13.1', 'start/deeper');
    const home = join(cwd, 'start/.asya/m');
    mkdirSync(home, { recursive: true });
    mkdirSync(join(cwd, 'start/deeper'));
    const mesh = { name: 'm', folder: join(cwd, 'm'), pid: process.pid, logFile: join(home, 'log.jsonl') };
    writeFileSync(join(home, 'mesh.json'), JSON.stringify(mesh));
    expect((await run()).out).toContain(`runs with Python 3.13.1 (${cwd}/start/.venv/bin/python).`);
  });

  it('says why the handler cannot run', async () => {
    expect((await pythonEnv('m/venv', '3.8.1').run('m')).out).toMatch(
      /Locally, the handler cannot run: its Python ".*\/m\/venv\/bin\/python" is Python 3\.8\.1, and handlers need Python 3\.9 or later; recreate it with /,
    );
  });
});
