import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { localSecrets, missingSecretsText, readEnvFile } from '../../../lib/assembly/mesh/local-secrets.ts';
import { manifestIn } from '../../local/a-mesh.ts';
import { aFolder } from '../../support/a-folder.ts';

const ACTOR = `apiVersion: asya.sh/v1alpha1
kind: AsyncActor
metadata: {name: score}
spec:
  handler: score.ts.score
  secrets:
    OPENAI_API_KEY: {secretsManager: my/openai, key: api_key}
    DATABASE_URL: {ssm: /my/database}
`;

function aMesh(files: Readonly<Record<string, string>> = {}) {
  const folder = aFolder({ 'score.yaml': ACTOR, 'score.ts': 'export const score = () => 1;\n', ...files });
  const [spec] = manifestIn(folder).actors;
  if (spec === undefined) throw new Error('no actor');
  return { folder, spec };
}

it('finds each secret by its name, in .env before the shell', () => {
  const { folder, spec } = aMesh({ '.env': '# comment\nOPENAI_API_KEY="sk 1"\nOTHER=x\n' });
  const shell = { OPENAI_API_KEY: 'of the shell', DATABASE_URL: 'db', MORE: 'x' };
  expect(localSecrets(spec, readEnvFile(folder), shell)).toEqual({
    values: { OPENAI_API_KEY: 'sk 1', DATABASE_URL: 'db' },
    foundIn: { OPENAI_API_KEY: '.env', DATABASE_URL: 'shell' },
    missing: [],
  });
});

it('counts an empty value in .env as missing, unless the shell has one', () => {
  const { folder, spec } = aMesh({ '.env': 'OPENAI_API_KEY=\nDATABASE_URL=\n' });
  const found = localSecrets(spec, readEnvFile(folder), { DATABASE_URL: 'db' });
  expect(found).toMatchObject({
    values: { DATABASE_URL: 'db' },
    missing: [{ variable: 'OPENAI_API_KEY', line: 7 }],
  });
});

it('reports all missing secrets with actor, file, line and what to do', () => {
  const { folder, spec } = aMesh();
  expect(missingSecretsText(spec, localSecrets(spec, readEnvFile(folder), {}), folder)).toBe(
    `actor "score" waits, and its envelopes stay in its queue: no value for OPENAI_API_KEY (score.yaml:7), DATABASE_URL (score.yaml:8); add it to "${folder}/.env", or set it in the shell and start the mesh again`,
  );
});

it('rejects a .env that cannot be read', () => {
  const { folder } = aMesh();
  mkdirSync(join(folder, '.env'));
  expect(() => readEnvFile(folder)).toThrow(/EISDIR/);
});
