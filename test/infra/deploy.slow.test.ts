import { execFile, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Manifest } from '../../lib/config/manifest/manifest.ts';
import { visibilityOf } from '../../lib/config/plan/mesh-plan.ts';
import { CREW_VISIBILITY_SECONDS } from '../../lib/config/plan/queue-plan.ts';
import type { Flow } from '../../lib/core/task/flow.ts';
import { ROOT } from '../sidecar/sidecar-process.ts';
import { anApp, DEV, manifestIn, stackOf } from './a-mesh-stack.ts';

/**
 * Runs `cdk deploy` and `cdk destroy` against moto_server and reads back what CloudFormation created. Without a gateway,
 * because moto does not support function URLs.
 */

const MESHES = {
  plain: join(import.meta.dirname, 'meshes/plain'),
  hello: join(ROOT, 'examples/hello'),
  'image-enhance': join(ROOT, 'examples/image-enhance'),
  'resilience-lab': join(ROOT, 'examples/resilience-lab'),
};
const REGION = 'eu-central-1';
const CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'test' };
// Starts the program instead of looking it up, because a version manager may put a stub for it on the PATH.
const isInstalled = spawnSync('moto_server', ['--help'], { stdio: 'ignore', timeout: 30_000 }).status === 0;
if (!isInstalled)
  console.log('skipped: moto_server is not installed; install it with: pip install "moto[server]"');

describe.skipIf(!isInstalled)('a mesh on moto', { timeout: 180_000 }, () => {
  let endpoint: string;
  let stop: () => void = () => {};
  let outdir: string;
  let sqs: SQSClient;

  beforeAll(async () => {
    const moto = await startMoto();
    endpoint = moto.endpoint;
    stop = moto.stop;
    sqs = new SQSClient({ endpoint, region: REGION, credentials: CREDENTIALS, useQueueUrlAsEndpoint: false });
    const created = await anApp({ '@aws-cdk/core:bootstrapQualifier': 'localhost' });
    outdir = created.outdir;
    for (const [meshName, folder] of Object.entries(MESHES)) {
      stackOf(withoutImages(manifestIn(folder)), {
        app: created.app,
        id: `asya-dev-${meshName}`,
        meshName,
        folder,
        code: 'bundled',
        environment: { ...DEV, concurrency: 4 },
      });
    }
    created.app.synth();
    await cdk('bootstrap', `aws://123456789012/${REGION}`, '--qualifier', 'localhost');
    await cdk('deploy', '--all', '--require-approval', 'never');
  }, 180_000);
  afterAll(() => {
    sqs?.destroy();
    stop();
  });

  async function cdk(...args: readonly string[]): Promise<void> {
    const env = {
      PATH: process.env['PATH'],
      HOME: outdir,
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      CI: 'true',
    };
    const program = join(ROOT, 'node_modules/aws-cdk/bin/cdk');
    await promisify(execFile)(process.execPath, [program, '--app', outdir, ...args], { env, cwd: outdir });
  }

  const attributesOf = async (queue: string) => {
    const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: queue }));
    const { Attributes = {} } = await sqs.send(
      new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }),
    );
    return Attributes;
  };

  test.each(Object.entries(MESHES))('%s has its queues, each with a redrive policy', async (mesh, folder) => {
    const { actors } = withoutImages(manifestIn(folder));
    const visibilities = new Map(actors.map((spec) => [spec.name, visibilityOf(spec)]));
    for (const actor of [...visibilities.keys(), 'x-sink', 'x-sump']) {
      const name = `asya-dev-${mesh}-${actor}`;
      const { QueueArn, MessageRetentionPeriod } = await attributesOf(`${name}-dlq`);
      const { RedrivePolicy = '{}', VisibilityTimeout } = await attributesOf(name);
      const { deadLetterTargetArn, maxReceiveCount } = JSON.parse(RedrivePolicy);
      expect(deadLetterTargetArn).toBe(QueueArn);
      expect(Number(maxReceiveCount)).toBe(5);
      expect(Number(VisibilityTimeout)).toBe(visibilities.get(actor) ?? CREW_VISIBILITY_SECONDS);
      expect(MessageRetentionPeriod).toBe('1209600');
    }
  });

  test('has its event sources', async () => {
    const response = await fetch(`${endpoint}/2015-03-31/event-source-mappings/`, {
      headers: { authorization: `AWS4-HMAC-SHA256 Credential=test/20260101/${REGION}/lambda/aws4_request` },
    });
    const { EventSourceMappings } = (await response.json()) as { EventSourceMappings: readonly Mapping[] };
    const ofPlain = EventSourceMappings.filter(({ EventSourceArn }) =>
      EventSourceArn.includes('asya-dev-plain-'),
    );
    const sources = new Map(ofPlain.map((mapping) => [mapping.EventSourceArn.split(':').at(-1), mapping]));
    const queues = ['double', 'notify', 'x-sink', 'x-sump'].flatMap((name) => [name, `${name}-dlq`]);
    expect([...sources.keys()].sort()).toEqual(queues.map((name) => `asya-dev-plain-${name}`).sort());
    for (const { FunctionResponseTypes, ScalingConfig } of sources.values()) {
      expect(FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
      expect(ScalingConfig).toEqual({ MaximumConcurrency: 4 });
    }
    expect(sources.get('asya-dev-plain-double-dlq')?.FunctionArn).toContain('DeadLetters');
  });

  test('cdk diff reports no differences without a change', async () => {
    // With --fail, a difference causes a non-zero exit status, which rejects here.
    await cdk('diff', '--all', '--fail', '--no-change-set');
  });

  test('has no queues after cdk destroy', async () => {
    await cdk('destroy', '--all', '--force');
    const { QueueUrls = [] } = await sqs.send(new ListQueuesCommand({ QueueNamePrefix: 'asya-' }));
    expect(QueueUrls).toEqual([]);
  });
});

/** The mesh without actors that need an image, because deploying images needs Docker. */
function withoutImages({ actors, flows }: Manifest): Manifest {
  const zips = actors.filter(({ runtime }) => runtime.kind === 'node' || runtime.kind === 'url');
  const names = new Set(zips.map(({ name }) => name));
  const isWhole = ({ entrypoint, routeNext }: Flow) =>
    [entrypoint, ...routeNext].every((name) => names.has(name));
  return { actors: zips, flows: flows.filter(isWhole) };
}

interface Mapping {
  readonly EventSourceArn: string;
  readonly FunctionArn: string;
  readonly FunctionResponseTypes: readonly string[];
  readonly ScalingConfig: unknown;
}

/** Listens on a free port. */
async function startMoto(): Promise<{ endpoint: string; stop: () => void }> {
  const child = spawn('moto_server', ['-H', '127.0.0.1', '-p', '0'], { stdio: ['ignore', 'pipe', 'pipe'] });
  const stop = () => void child.kill('SIGKILL');
  process.once('exit', stop);
  const endpoint = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.once('exit', (code) => reject(new Error(`moto_server exited with status ${code}: ${output}`)));
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        if (output.length < 10_000) output += chunk;
        const [, address] = /Running on (http:\/\/127\.0\.0\.1:\d+)/.exec(output) ?? [];
        if (address !== undefined) resolve(address);
      });
    }
  });
  return { endpoint, stop };
}
