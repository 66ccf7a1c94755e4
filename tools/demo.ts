import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storesFromConfig } from '../lib/assembly/from-config/crew-from-config.ts';
import { readMesh } from '../lib/assembly/mesh/read-mesh.ts';
import { EXIT } from '../lib/cli/exit-status.ts';
import { main } from '../lib/cli/main.ts';
import { tableText } from '../lib/cli/output/table.ts';
import type { Terminal } from '../lib/cli/output/terminal.ts';
import type { EndRecord } from '../lib/core/failure/record.ts';
import { LOCAL_REGION } from '../lib/local/engines/engines.ts';
import { startMesh } from '../lib/local/mesh/mesh.ts';
import { meshState } from '../lib/local/mesh/mesh-state.ts';

/** `npm run demo`: runs each flow of the resilience lab once, then a replay. Exits with 0 if all outcomes are as expected. */

interface ExpectedOutcome {
  readonly flow: string;
  readonly payload: unknown;
  readonly ends: number;
  readonly folder: string;
  readonly phase: string;
  readonly reason: string;
  readonly actor: string;
  /** Null if the number of attempts is not compared. */
  readonly attempts: number | null;
  readonly explanation: string;
}

interface Row {
  readonly name: string;
  readonly expected: string;
  readonly actual: string;
  readonly explanation: string;
}

const LAB = 'examples/resilience-lab';
/** Usually it takes less than a minute. A busy machine needs longer to start fifteen functions. */
const TIMEOUT_MS = 180_000;
const outcomes = JSON.parse(readFileSync(`${LAB}/outcomes.json`, 'utf8')) as readonly ExpectedOutcome[];
const home = mkdtempSync(join(tmpdir(), 'asya-demo-'));
const startedAt = Date.now();

const reading = readMesh(LAB);
if ('mistakes' in reading) throw new Error(JSON.stringify(reading.mistakes));
const { manifest } = reading;
log(`${LAB}: ${manifest.actors.length} actors, each with its own queue, function and runtime`);
const started = await startMesh({ manifest, folder: LAB, replicas: 1, onEvent: () => {} });
if ('problem' in started) throw new Error(started.problem);
const { mesh } = started;
const state = meshState(home, LAB);
state.announce({
  folder: LAB,
  variables: mesh.variables,
  actors: manifest.actors.map(({ name }) => name),
  flows: manifest.flows,
});
const stores = storesFromConfig(
  {
    bucket: mesh.variables['ASYA_ARCHIVE_BUCKET'] ?? '',
    table: mesh.variables['ASYA_FAILURE_TABLE'] ?? '',
    s3Endpoint: mesh.variables['ASYA_S3_ENDPOINT'] ?? '',
    dynamoDbEndpoint: mesh.variables['ASYA_DYNAMODB_ENDPOINT'] ?? '',
  },
  LOCAL_REGION,
  {},
);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void cleanUp().then(() => process.exit(EXIT.interrupted)));
}
let isAsExpected = false;
try {
  isAsExpected = await runDemo();
} finally {
  await cleanUp();
}
process.exit(isAsExpected ? EXIT.ok : EXIT.failed);

async function cleanUp(): Promise<void> {
  stores.close();
  await mesh.close(1_000);
  rmSync(home, { recursive: true, force: true });
}

async function runDemo(): Promise<boolean> {
  log('sending one envelope to each flow; the slowest one takes half a minute\n');
  const rows = await Promise.all(outcomes.map(runOutcome));
  const all = [...rows, await replayOne()];
  console.log(
    `\n${tableText<Row>(
      [
        { title: '', text: ({ expected, actual }) => (expected === actual ? 'ok' : 'DIFFERS') },
        { title: 'FLOW', text: ({ name }) => name },
        { title: 'EXPECTED', text: ({ expected }) => expected },
        { title: 'ACTUAL', text: ({ actual }) => actual },
        { title: 'EXPLANATION', text: ({ explanation }) => explanation },
      ],
      all,
    )}\n`,
  );
  const wrong = all.filter(({ expected, actual }) => expected !== actual);
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  console.log(
    wrong.length === 0
      ? `all ${all.length} as expected, in ${seconds} s`
      : `${wrong.length} of ${all.length} not as expected, in ${seconds} s`,
  );
  return wrong.length === 0;
}

async function runOutcome(outcome: ExpectedOutcome): Promise<Row> {
  const id = await sendTo(outcome.flow, outcome.payload);
  const records = await untilEnded(id, outcome.ends);
  const actual = await Promise.all(records.map((record) => endText(record, outcome.attempts !== null)));
  log(`${outcome.flow}: ${actual[0] ?? 'did not end'}`);
  const expected = `${outcome.folder}, ${outcome.reason} at ${outcome.actor}${attemptsText(outcome.attempts)}`;
  const isAll = actual.length === outcome.ends && actual.every((one) => one === actual[0]);
  return {
    name: outcome.flow,
    expected: times(expected, outcome.ends),
    actual: isAll ? times(actual[0] ?? '', actual.length) : actual.join(' + '),
    explanation: outcome.explanation,
  };
}

function times(text: string, count: number): string {
  return count === 1 ? text : `${count} × ${text}`;
}

function attemptsText(attempts: number | null | undefined): string {
  return attempts === null || attempts === undefined ? '' : `, attempt ${attempts}`;
}

async function endText({ archiveKey, reason, actor }: EndRecord, isCounted: boolean): Promise<string> {
  const text = await untilArchived(archiveKey);
  const { attempt } = text === undefined ? {} : (JSON.parse(text) as { status: { attempt?: number } }).status;
  return `${archiveKey.split('/')[0]}, ${reason} at ${actor}${isCounted ? attemptsText(attempt) : ''}`;
}

/** x-sink records an end before it archives the envelope, so a record can exist without an archived envelope. */
async function untilArchived(archiveKey: string): Promise<string | undefined> {
  for (;;) {
    const archived = await stores.archive.get(archiveKey);
    if (archived.ok && archived.text !== undefined) return archived.text;
    if (Date.now() - startedAt > TIMEOUT_MS) return undefined;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Runs `asya replay` for one group of failures, with a patch that fixes the payload. */
async function replayOne(): Promise<Row> {
  const flow = 'is-not-retryable';
  const lines: string[] = [];
  const terminal: Terminal = {
    ...quietTerminal(),
    print: (text) => lines.push(text),
    printError: (text) => lines.push(text),
  };
  const failure = await untilIndexed(flow, terminal, lines);
  const explanation = `a JSON Patch fixes the payload of ${flow}; the replay succeeds`;
  const expected = 'exit status 0';
  if (failure === undefined) return { name: 'replay', expected, actual: 'no failure to replay', explanation };
  const patch = '[{"op":"add","path":"/isFixed","value":true}]';
  const command = ['replay', '--group', failure.group, '--patch', patch, '--timeout', '1m', '--go'];
  log(`asya ${command.join(' ')}`);
  const status = await main(command, terminal);
  for (const line of lines) log(`  ${line}`);
  return {
    name: 'replay',
    expected,
    actual: `exit status ${status}`,
    explanation,
  };
}

/** x-sump indexes a failure after x-sink has recorded the end. */
async function untilIndexed(
  actor: string,
  terminal: Terminal,
  lines: string[],
): Promise<{ readonly group: string } | undefined> {
  for (;;) {
    await main(['failures', '--actor', actor, '--json'], terminal);
    const [failure] = JSON.parse(lines.splice(0).join('\n')) as readonly { readonly group: string }[];
    if (failure !== undefined || Date.now() - startedAt > TIMEOUT_MS) return failure;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

function quietTerminal(): Terminal {
  return {
    env: {},
    cwd: home,
    now: Date.now,
    print: () => {},
    printError: () => {},
    isInteractive: false,
    confirm: () => Promise.resolve(false),
    stop: () => new AbortController().signal,
  };
}

async function sendTo(flow: string, payload: unknown): Promise<string> {
  let id = '';
  const terminal: Terminal = {
    ...quietTerminal(),
    printError: (text) => log(text),
    print: (text) => (id = text),
  };
  await main(['send', flow, '--payload', JSON.stringify(payload)], terminal);
  return id;
}

/** The children of a fan-out have their own ids, so their records are looked up separately. */
async function untilEnded(id: string, count: number): Promise<readonly EndRecord[]> {
  for (;;) {
    const own = await stores.records.ofEnvelope(id);
    const ends = own.ok && own.records.length > 0 ? [...own.records, ...(await children(id, count - 1))] : [];
    if (ends.length >= count || Date.now() - startedAt > TIMEOUT_MS) return ends;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

async function children(parent: string, count: number): Promise<readonly EndRecord[]> {
  const { deriveId } = await import('../lib/adapters/system/system.ts');
  const ids = Array.from({ length: count }, (_, at) => deriveId('fan-out', parent, 'fans-out', 0, at + 1));
  const ends = await Promise.all(ids.map((id) => stores.records.ofEnvelope(id)));
  return ends.flatMap((end) => (end.ok ? end.records : []));
}

function log(text: string): void {
  console.log(`${((Date.now() - startedAt) / 1000).toFixed(1).padStart(5)} s  ${text}`);
}
