import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SQSBatchResponse } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordOf } from '../functions/sidecar/lambda-process.ts';
import { sqsBroker } from '../sidecar/brokers/sqs-broker.ts';
import { envelopeAt, type Mailbox, mailbox } from '../sidecar/envelopes.ts';
import { plainEnvironment } from '../sidecar/sidecar-process.ts';
import { type EmbeddedSqs, startEmbeddedSqs } from '../support/embedded-sqs.ts';
import { anApp, functionOf, LETTERS, manifestIn, stackOf, type TemplateJson } from './a-mesh-stack.ts';

/** Runs the deployed asset with its deployed environment in a separate process against an embedded SQS. */

let outdir: string;
let template: TemplateJson;
let assets: Readonly<
  Record<string, { readonly source: { readonly path?: string; readonly directory?: string } }>
>;
let images: typeof assets;
let sqs: EmbeddedSqs;
let inbox: Mailbox;
const children: ChildProcess[] = [];

beforeAll(async () => {
  const made = await anApp();
  outdir = made.outdir;
  const stack = stackOf(manifestIn(LETTERS), { app: made.app, code: 'bundled' });
  const assembly = made.app.synth();
  template = assembly.getStackArtifact(stack.artifactId).template;
  const manifest = JSON.parse(readFileSync(join(outdir, `${stack.artifactId}.assets.json`), 'utf8'));
  assets = manifest.files;
  images = manifest.dockerImages;
  sqs = await startEmbeddedSqs();
  inbox = mailbox(sqsBroker(sqs).take);
  for (const actor of ['count', 'store', 'review', 'x-sink'])
    await sqs.createQueue(`asya-dev-letters-${actor}`);
  await sqs.createQueue('letters-escalated');
}, 120_000);
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await sqs?.close();
});

/** The folder of a function's asset in the app's output. */
function assetOf(actor: string): string {
  const { S3Key } = functionOf(template, actor).Properties.Code;
  const { path } = assets[S3Key.replace('.zip', '')]?.source ?? {};
  return join(outdir, path ?? '');
}

const HOST = `
const { handler } = require('./index.js');
process.on('message', async ({ event }) => {
  const ends = Date.now() + 60_000;
  try { process.send({ response: await handler(event, { getRemainingTimeInMillis: () => ends - Date.now() }) }); }
  catch (error) { process.send({ error: String(error) }); }
});
`;

function start(actor: string) {
  const folder = assetOf(actor);
  const { Variables } = functionOf(template, actor).Properties.Environment;
  const child = fork('-', {
    execArgv: ['-e', HOST],
    cwd: folder,
    env: plainEnvironment({
      ...Variables,
      // In the template it refers to the account of the stack.
      ASYA_SQS_ACCOUNT: '000000000000',
      ASYA_SQS_ENDPOINT: sqs.endpoint,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
    }),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  children.push(child);
  let output = '';
  child.stdout?.on('data', (data) => {
    output += data;
  });
  child.stderr?.on('data', (data) => {
    output += data;
  });
  return {
    output: () => output,
    invoke: async (...bodies: readonly object[]): Promise<SQSBatchResponse> => {
      const Records = bodies.map((body) => recordOf(`asya-dev-letters-${actor}`, JSON.stringify(body)));
      child.send({ event: { Records } });
      const [reply] = await Promise.race([
        once(child, 'message'),
        once(child, 'exit').then(() => {
          throw new Error(`the function exited:\n${output}`);
        }),
      ]);
      if (reply.error !== undefined) throw new Error(`${reply.error}\n${output}`);
      return reply.response;
    },
  };
}

describe('a deployed Node actor', () => {
  test('calls its handler, sends to the next actor, retries by its bundled policies and has its variables', async () => {
    const lambda = start('count');
    const route = { prev: [], curr: 'count', next: ['store'] };
    const even = envelopeAt('count', { text: 'ab' }, { route });
    const odd = envelopeAt('count', { text: 'abc' }, { route });
    expect(await lambda.invoke(even, odd)).toEqual({ batchItemFailures: [] });
    expect((await inbox.next('asya-dev-letters-store', even.id)).payload).toEqual({
      text: 'ab',
      letters: 2,
      alphabet: 'latin',
    });
    // The rule matches the name of the error class, which the bundle has to keep.
    const retried = await inbox.next('asya-dev-letters-count', odd.id);
    expect(retried.status).toMatchObject({
      phase: 'retrying',
      max_attempts: 2,
      error: { type: 'OddLetters' },
    });
    expect(lambda.output()).toContain('"service":"dev-letters"');
  });
});

test('the same mesh has the same assets in every output folder', async () => {
  const again = await anApp();
  const stack = stackOf(manifestIn(LETTERS), { app: again.app, code: 'bundled' });
  again.app.synth();
  const manifest = JSON.parse(readFileSync(join(again.outdir, `${stack.artifactId}.assets.json`), 'utf8'));
  const hashes = (files: object) => Object.keys(files).sort();
  expect(hashes(manifest.dockerImages)).toEqual(hashes(images));
  const zips = (files: typeof assets) =>
    hashes(
      Object.fromEntries(Object.entries(files).filter(([, { source }]) => !source.path?.endsWith('.json'))),
    );
  expect(zips(manifest.files)).toEqual(zips(assets));
});

describe('images', () => {
  const dockerfileOf = (actor: string) => {
    const found = Object.values(images).find(({ source }) => source.directory?.endsWith(`.${actor}`));
    return readFileSync(join(outdir, found?.source.directory ?? '', 'Dockerfile'), 'utf8');
  };

  test("a Python actor uses Lambda's Node image with Python installed", () => {
    expect(dockerfileOf('store')).toMatch(
      /^FROM public\.ecr\.aws\/lambda\/nodejs:24\nRUN dnf install -y python3\.12/,
    );
    expect(functionOf(template, 'store').Properties).toMatchObject({ PackageType: 'Image' });
    const { Variables } = functionOf(template, 'store').Properties.Environment;
    expect(Variables.ASYA_RUNTIME_COMMAND).toBe(
      "cd app && exec 'python3.12' '../asya_start.py' 'steps.store'",
    );
  });

  test("a user's image is extended, with the sidecar as its entry point", () => {
    expect(dockerfileOf('review')).toContain('\nFROM registry.example/review:1\n');
    expect(dockerfileOf('review')).toContain('ENTRYPOINT ["/lambda-entrypoint.sh"]');
  });
});

test('rejects a handler that cannot be bundled, with its actor and the reason', async () => {
  const { app } = await anApp();
  const { actors, flows } = manifestIn(LETTERS);
  const broken = actors.map((spec) =>
    spec.name === 'count'
      ? { ...spec, runtime: { kind: 'node' as const, handler: 'missing.ts.count' } }
      : spec,
  );
  expect(() => stackOf({ actors: broken, flows }, { app, code: 'bundled' })).toThrow(
    /cannot bundle missing\.ts, the handler of "count": .*\n?Fix the error\./s,
  );
});
