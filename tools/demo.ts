import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { storesFromConfig } from '../lib/assembly/from-config/crew-from-config.ts';
import { readMesh } from '../lib/assembly/mesh/read-mesh.ts';
import { runningMeshes } from '../lib/assembly/mesh/running-mesh.ts';
import { EXIT } from '../lib/cli/exit-status.ts';
import { processTerminal } from '../lib/cli/output/terminal.ts';
import { defined } from '../lib/core/text/defined.ts';
import { jsonLine } from '../lib/core/text/json-line.ts';
import { LOCAL_REGION } from '../lib/local/engines/engines.ts';
import { readLogLine } from '../lib/local/mesh/log-line.ts';
import { startMesh } from '../lib/local/mesh/mesh.ts';
import { meshState } from '../lib/local/mesh/mesh-state.ts';
import { type ExpectedOutcome, runFlows } from './demo-flows.ts';
import { demoOptions } from './demo-options.ts';
import { demoTable, isAsExpected, progressLine } from './demo-table.ts';

/**
 * `npm run demo`: runs each flow of the resilience lab once, then a replay. Exits with 0 if all outcomes are as expected.
 * With `-- --keep` the mesh runs until Ctrl-C, in the current folder, so that commands find it there.
 */

const LAB = 'examples/resilience-lab';
const NAME = 'demo';
const startedAt = Date.now();

const options = demoOptions(process.argv.slice(2));
if ('problem' in options) {
  console.error(options.problem);
  process.exit(EXIT.usageError);
}
const home = options.keep ? process.cwd() : mkdtempSync(join(tmpdir(), 'asya-demo-'));
const running = options.keep ? runningMeshes(home).find(({ name }) => name === NAME) : undefined;
if (running !== undefined) {
  console.error(`demo: the demo is already running as process ${running.pid}; stop it first`);
  process.exit(EXIT.usageError);
}
const stop = processTerminal().stop();
process.exitCode = await demo(options.keep);
// Connections to the stores may still be open.
process.exit();

async function demo(isKept: boolean): Promise<number> {
  const reading = readMesh(LAB);
  if ('mistakes' in reading) throw new Error(JSON.stringify(reading.mistakes));
  const { manifest } = reading;
  const { actors, flows } = manifest;
  log(`${LAB}: ${actors.length} actors, each with its own queue, function and runtime`);
  const state = meshState(home, NAME);
  if (isKept) {
    state.empty();
    const warning = state.prepare();
    if (warning !== undefined) log(warning);
  }
  const started = await startMesh({
    manifest,
    folder: LAB,
    replicas: 1,
    ...(isKept && { gateway: {} }),
    onEvent: (event) => {
      const line = event.event === 'line' ? readLogLine(event.actor, event.line) : undefined;
      if (line !== undefined && isKept) state.log(jsonLine(line));
    },
  });
  if ('problem' in started) throw new Error(started.problem);
  const { mesh } = started;
  const stores = storesOf(mesh.variables);
  try {
    state.announce({
      folder: join(process.cwd(), LAB),
      variables: mesh.variables,
      actors: actors.map(({ name }) => name),
      flows,
      ...defined({ gateway: mesh.gateway }),
    });
    const outcomes = JSON.parse(readFileSync(`${LAB}/outcomes.json`, 'utf8')) as readonly ExpectedOutcome[];
    log('sending one envelope to each flow; the slowest one takes half a minute');
    const rows = await Promise.race([runFlows(outcomes, { name: NAME, home, stores, log }), untilStopped()]);
    if (rows === undefined) return EXIT.interrupted;
    const wrong = rows.filter((row) => !isAsExpected(row)).length;
    const verdict =
      wrong === 0 ? `all ${rows.length} as expected` : `${wrong} of ${rows.length} not as expected`;
    console.log(`\n${demoTable(rows)}\n`);
    console.log(`${verdict}, in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
    if (isKept && !stop.aborted) {
      console.log(keptText(mesh.gateway));
      await untilStopped();
    }
    return wrong === 0 ? EXIT.ok : EXIT.failed;
  } finally {
    stores.close();
    await mesh.close(1_000);
    rmSync(isKept ? dirname(state.meshFile) : home, { recursive: true, force: true });
  }
}

function storesOf(variables: Readonly<Record<string, string>>) {
  return storesFromConfig(
    {
      bucket: variables['ASYA_ARCHIVE_BUCKET'] ?? '',
      table: variables['ASYA_FAILURE_TABLE'] ?? '',
      s3Endpoint: variables['ASYA_S3_ENDPOINT'] ?? '',
      dynamoDbEndpoint: variables['ASYA_DYNAMODB_ENDPOINT'] ?? '',
    },
    LOCAL_REGION,
    {},
  );
}

function keptText(gateway: { readonly url: string; readonly key: string } | undefined): string {
  return `
The mesh keeps running. Ctrl-C stops it.
  gateway ${gateway?.url}
  key     ${gateway?.key}

In another shell:
  cd ${home}
  npx asya status --mesh ${NAME}
  npx asya failures --mesh ${NAME}
  npx asya runs --mesh ${NAME}
  npx asya send succeeds --payload '{"n":1}' --wait --mesh ${NAME}`;
}

function untilStopped(): Promise<undefined> {
  return new Promise((resolve) => {
    if (stop.aborted) resolve(undefined);
    stop.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

function log(text: string): void {
  console.log(progressLine(text, Date.now() - startedAt));
}
