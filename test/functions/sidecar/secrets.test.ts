import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { envelopeAt } from '../../sidecar/envelopes.ts';
import { ROOT, until } from '../../sidecar/sidecar-process.ts';
import { type Stage, setStage } from '../../sidecar/stage.ts';
import { type SecretStore, startSecretStore } from '../../support/a-secret-store.ts';
import { functionVariables, type LambdaProcess, recordOf, startLambda } from './lambda-process.ts';

/** A function whose handler has secrets: from the store into the environment of the runtime, and nowhere else. */

let stage: Stage;
let store: SecretStore;
beforeAll(async () => {
  stage = await setStage('x-sink');
  store = await startSecretStore();
  writeFileSync(
    join(stage.folder, 'show.ts'),
    'export const show = () => ({ ...process.env, pid: process.pid });\n',
  );
});
afterAll(async () => {
  await stage.close();
  await store.close();
});

const REFERENCES = {
  OPENAI_API_KEY: { secretsManager: 'my/openai', key: 'api_key' },
  OPENAI_ORG: { secretsManager: 'my/openai', key: 'org' },
  DATABASE_URL: { ssm: '/my/database' },
};

function start(actor: string, refresh: string): LambdaProcess {
  return startLambda(
    functionVariables(stage, actor, {
      ...store.variables,
      ASYA_RUNTIME_COMMAND: `${process.execPath} ${ROOT}/runtimes/node/asya-runtime.ts ${stage.folder}/show.ts.show`,
      ASYA_RUNTIME_SECRETS: JSON.stringify(REFERENCES),
      ASYA_RUNTIME_SECRETS_REFRESH: refresh,
      ASYA_RESILIENCY_ACTOR_TIMEOUT: '20s',
      ASYA_LOG_LEVEL: 'debug',
    }),
  );
}

/** The environment that the handler has, and its pid. */
async function shown(lambda: LambdaProcess, actor: string): Promise<Record<string, unknown>> {
  const envelope = envelopeAt(actor, {});
  expect(await lambda.invoke([recordOf(actor, envelope)])).toEqual({ batchItemFailures: [] });
  return (await stage.inbox.next('x-sink', envelope.id)).payload as Record<string, unknown>;
}

const store1 = () => {
  store.secrets.set('my/openai', '{"api_key":"sk-first-value","org":"org-value"}');
  store.parameters.set('/my/database', 'database-value');
};

test('the handler gets its secrets; the function, its log and the references stay without them', async () => {
  store1();
  store.requests.length = 0;
  const lambda = start('show', '5m');
  await lambda.loaded;
  await until(() => store.requests.length === 2, 'the secrets are read in the init phase');
  const environment = await shown(lambda, 'show');
  expect(environment).toMatchObject({
    OPENAI_API_KEY: 'sk-first-value',
    OPENAI_ORG: 'org-value',
    DATABASE_URL: 'database-value',
  });
  expect(environment).not.toHaveProperty('ASYA_RUNTIME_SECRETS');
  expect(environment).not.toHaveProperty('AWS_SECRET_ACCESS_KEY');
  // Two keys of one secret need one request.
  expect(store.requests.toSorted()).toEqual([
    'AmazonSSM.GetParameter /my/database',
    'secretsmanager.GetSecretValue my/openai',
  ]);
  const ofFunction = readFileSync(`/proc/${lambda.pid}/environ`, 'utf8');
  for (const value of ['sk-first-value', 'org-value', 'database-value']) {
    expect(ofFunction).not.toContain(value);
    expect(lambda.output()).not.toContain(value);
  }
});

test('a rotated secret reaches the next call after the refresh time, in a new process', async () => {
  store1();
  const lambda = start('rotating', '1ms');
  const before = await shown(lambda, 'rotating');
  expect(await shown(lambda, 'rotating')).toMatchObject({ pid: before['pid'] });
  store.secrets.set('my/openai', '{"api_key":"sk-second-value","org":"org-value"}');
  const after = await shown(lambda, 'rotating');
  expect(after).toMatchObject({ OPENAI_API_KEY: 'sk-second-value', DATABASE_URL: 'database-value' });
  expect(after['pid']).not.toBe(before['pid']);
  expect(lambda.lines.map(({ message }) => message)).toContain(
    'a secret has changed; the runtime is started again with the new value',
  );
  expect(lambda.output()).not.toContain('sk-second-value');

  store.secrets.clear();
  expect(await shown(lambda, 'rotating')).toMatchObject({ OPENAI_API_KEY: 'sk-second-value' });
});

test('an envelope waits for a secret that cannot be read, and no attempt fails', async () => {
  store1();
  store.parameters.clear();
  const lambda = start('waiting', '5m');
  const warning = await lambda.untilLine(
    ({ message }) => message === 'cannot read a secret; the actor waits for it',
  );
  expect(warning).toMatchObject({
    variable: 'DATABASE_URL',
    secret: 'parameter /my/database of Systems Manager',
    problem:
      'ResourceNotFoundException: there is no such secret; create it in the region of the actor, or fix its name in the manifest',
  });
  const envelope = envelopeAt('waiting', {});
  const record = recordOf('waiting', envelope);
  // Too little time for a call after the wait: the envelope goes back to its queue.
  expect(await lambda.invoke([record], 24_000)).toEqual({
    batchItemFailures: [{ itemIdentifier: record.messageId }],
  });
  const waiting = lambda.invoke([record], 120_000);
  store.parameters.set('/my/database', 'late-value');
  expect(await waiting).toEqual({ batchItemFailures: [] });
  expect(await stage.inbox.next('x-sink', envelope.id)).toMatchObject({
    payload: { DATABASE_URL: 'late-value' },
    status: { attempt: 1 },
  });
});
