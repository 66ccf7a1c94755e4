import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { median } from './measure.ts';
import type { Row } from './report.ts';

const ROOT = join(import.meta.dirname, '..');
const ROUNDS = 21;

/** Loading the Lambda bundle on a cold start, compared with loading only the SQS client of the AWS SDK. */
export async function benchImport(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'asya-bench-'));
  const sdkSource = join(folder, 'sdk.js');
  writeFileSync(
    sdkSource,
    "import { SQSClient, SendMessageBatchCommand } from '@aws-sdk/client-sqs';\nglobalThis.kept = [SQSClient, SendMessageBatchCommand];\n",
  );
  const ours = join(folder, 'sidecar.cjs');
  const sdkOnly = join(folder, 'sdk.cjs');
  const withoutSdk = join(folder, 'without-sdk.cjs');
  await bundle(join(ROOT, 'functions/sidecar/index.ts'), ours, []);
  await bundle(sdkSource, sdkOnly, []);
  await bundle(join(ROOT, 'functions/sidecar/index.ts'), withoutSdk, ['@aws-sdk/*']);
  const times = { ours: [] as number[], sdk: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    times.ours.push(importMs(ours));
    times.sdk.push(importMs(sdkOnly));
  }
  const ratios = times.ours.map((own, index) => own / (times.sdk[index] ?? Number.NaN));
  const bytes = statSync(withoutSdk).size;
  const zipped = gzipSync(readFileSync(withoutSdk)).length;
  rmSync(folder, { recursive: true });
  return [
    {
      group: 'import of the Lambda bundle / only @aws-sdk/client-sqs',
      name: 'cold start',
      subjectUs: median(times.ours) * 1000,
      peerUs: median(times.sdk) * 1000,
      ratio: median(ratios),
      atMost: 1.25,
    },
    { group: 'Lambda bundle without the SDK', name: 'minified', ratio: bytes / 1024, unit: 'KB', atMost: 60 },
    {
      group: 'Lambda bundle without the SDK',
      name: 'zipped, as uploaded',
      ratio: zipped / 1024,
      unit: 'KB',
    },
  ];
}

async function bundle(entry: string, outfile: string, external: readonly string[]): Promise<void> {
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    external: ['undici', ...external],
    logLevel: 'error',
    absWorkingDir: ROOT,
    nodePaths: [join(ROOT, 'node_modules')],
  });
}

/** Imports the file in a new process, as Lambda does. */
function importMs(path: string): number {
  const script = `const at = performance.now(); require(${JSON.stringify(path)}); console.log('took', performance.now() - at); process.exit(0)`;
  const env = { PATH: process.env['PATH'], ASYA_ACTOR_NAME: 'score', AWS_REGION: 'us-east-1' };
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], { env, encoding: 'utf8' });
  const took = Number(/took ([\d.]+)/.exec(stdout)?.[1]);
  if (Number.isNaN(took)) throw new Error(`the bundle could not be imported: ${stderr}`);
  return took;
}
