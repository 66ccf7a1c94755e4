import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { build } from 'esbuild';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bundleFunction, unusedPackages } from '../../infra/code/bundle.ts';
import { recordOf } from '../functions/sidecar/lambda-process.ts';
import { aFolder } from '../support/a-folder.ts';
import { startEmbeddedSqs } from '../support/embedded-sqs.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Clients of brokers that no function on Lambda uses. They add megabytes and 200 ms of load time. */
const OTHER_BROKERS = /^(@google-cloud|google-gax|google-auth-library|@grpc|amqplib)$/;

/** The packages in the bundle, including dynamic imports. */
async function packagesIn(entry: string, external: string[] = []): Promise<readonly string[]> {
  const { metafile } = await build({
    entryPoints: [join(ROOT, entry)],
    absWorkingDir: ROOT,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    write: false,
    metafile: true,
    logLevel: 'silent',
    external,
  });
  const names = Object.keys(metafile.inputs).flatMap((path) => {
    const [, name] = /.*node_modules\/([^/]+)\//.exec(path) ?? [];
    return name === undefined ? [] : [name];
  });
  return [...new Set(names)].toSorted();
}

const FUNCTIONS_ON_LAMBDA = [
  'sidecar',
  'x-sink',
  'x-sump',
  'x-dlq',
  'gateway',
  'gateway-reports',
  'gateway-timer',
];

test.each(FUNCTIONS_ON_LAMBDA)('%s contains the SQS client and no other broker client', async (name) => {
  const packages = await packagesIn(`functions/${name}/index.ts`);
  expect(packages).toContain('@aws-sdk');
  expect(packages.filter((one) => OTHER_BROKERS.test(one))).toEqual([]);
});

test('a bundle of a host with a configurable broker contains other clients', async () => {
  const packages = await packagesIn('lib/assembly/from-config/transport-from-config.ts');
  expect(packages.filter((one) => OTHER_BROKERS.test(one))).toContain('@google-cloud');
});

test.each(FUNCTIONS_ON_LAMBDA)('%s contains the SQS client of the AWS SDK only if it is chosen', (name) => {
  const bundleWith = (client: 'slim' | 'sdk') =>
    bundleFunction(
      join(ROOT, `functions/${name}/index.ts`),
      ROOT,
      unusedPackages({ sqsClient: client, callsUrl: true }),
    );
  // An operation that only the SDK knows.
  expect(bundleWith('slim')).not.toContain('ListDeadLetterSourceQueues');
  expect(bundleWith('sdk')).toContain('ListDeadLetterSourceQueues');
});

test('the sidecar contains no package of the AWS SDK', async () => {
  const packages = await packagesIn('functions/sidecar/index.ts', ['@aws-sdk/client-sqs']);
  expect(packages.filter((one) => /^@(aws-sdk|smithy|aws)/.test(one))).toEqual([]);
});

describe('a bundle in a folder of its own', () => {
  /** Loads the bundle like Lambda, and prints how its first invocation ends. */
  const HOST = `
    const { handler } = require('./index.js');
    const event = { Records: [${JSON.stringify(recordOf('score', '{}'))}] };
    handler(event, { getRemainingTimeInMillis: () => 600000 })
      .then(({ batchItemFailures }) => console.log('failed:', batchItemFailures.length), (error) => console.log(String(error)))
      .then(() => process.exit());
  `;

  function invoke(bundled: 'slim' | 'sdk', chosen: 'slim' | 'sdk', endpoint: string): Promise<string> {
    const folder = aFolder({
      'index.js': bundleFunction(
        join(ROOT, 'functions/sidecar/index.ts'),
        ROOT,
        unusedPackages({ sqsClient: bundled, callsUrl: true }),
      ),
      'host.js': HOST,
    });
    const child = spawn(process.execPath, ['host.js'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        PATH: process.env['PATH'],
        ASYA_ACTOR_NAME: 'score',
        ASYA_TRANSPORT: 'sqs',
        ASYA_SQS_ENDPOINT: endpoint,
        ASYA_SQS_CLIENT: chosen,
        ASYA_RUNTIME_URL: 'http://127.0.0.1:1/',
        ASYA_LOG_LEVEL: 'error',
        AWS_REGION: 'us-east-1',
      },
    });
    return text(child.stdout);
  }

  test('sends with the client that is chosen', async () => {
    const sqs = await startEmbeddedSqs();
    onTestFinished(() => sqs.close());
    await sqs.createQueue('x-sink');
    for (const client of ['slim', 'sdk'] as const) {
      // The envelope is invalid, so it goes to x-sink.
      expect(await invoke(client, client, sqs.endpoint)).toContain('failed: 0');
      expect(await sqs.takeUntil('x-sink', 1)).toHaveLength(1);
    }
  });

  test('reports that it does not contain the AWS SDK', async () => {
    expect(await invoke('slim', 'sdk', 'http://127.0.0.1:1')).toContain(
      "ASYA_SQS_CLIENT is \"sdk\", but the function's code does not contain the AWS SDK; deploy with `sqsClient: 'sdk'`",
    );
  });
});
