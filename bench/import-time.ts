import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { bundleFunction, unusedPackages } from '../infra/code/bundle.ts';
import { median } from './measure.ts';
import type { Row } from './report.ts';

const ROOT = join(import.meta.dirname, '..');
const ROUNDS = 21;

/** The bundle of the sidecar, as deployed with all its packages: its size, and the time to load it. */
export async function benchImport(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'asya-bench-'));
  const ours = join(folder, 'sidecar.cjs');
  const plain = join(folder, 'plain.cjs');
  const text = bundleFunction(join(ROOT, 'functions/sidecar/index.ts'), ROOT, unusedPackages({}));
  writeFileSync(ours, text);
  writeFileSync(plain, bundleFunction(join(ROOT, 'bench/lambda/peers/plain-handler.ts'), ROOT));
  const times = { ours: [] as number[], plain: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    times.ours.push(importMs(ours));
    times.plain.push(importMs(plain));
  }
  const ratios = times.ours.map((own, index) => own / (times.plain[index] ?? Number.NaN));
  const [bytes, plainBytes] = [statSync(ours).size, statSync(plain).size];
  rmSync(folder, { recursive: true });
  const group = 'Lambda bundle of the sidecar';
  return [
    { group, name: 'minified, with everything', ratio: bytes / 1024, unit: 'KB', atMost: 250 },
    { group, name: 'zipped, as uploaded', ratio: gzipSync(text).length / 1024, unit: 'KB' },
    { group, name: 'size / plain handler with the SDK', ratio: bytes / plainBytes },
    {
      group,
      name: 'import / plain handler with the SDK',
      subjectUs: median(times.ours) * 1000,
      peerUs: median(times.plain) * 1000,
      ratio: median(ratios),
    },
  ];
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
