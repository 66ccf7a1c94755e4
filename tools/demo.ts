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

/** `npm run demo`: every fate of the resilience lab once, and a replay at the end. Exit status 0 only when all is as told. */

interface Fate {
  readonly flow: string;
  readonly payload: unknown;
  readonly ends: number;
  readonly folder: string;
  readonly phase: string;
  readonly reason: string;
  readonly actor: string;
  /** Null where nobody counts them; a busy machine may have had some all the same. */
  readonly attempts: number | null;
  readonly says: string;
}

interface Row {
  readonly fate: string;
  readonly expected: string;
  readonly came: string;
  readonly says: string;
}

const LAB = 'examples/resilience-lab';
/** Under a minute as a rule; a machine that is busy takes longer to start fifteen functions. */
const GIVE_UP_MS = 180_000;
const fates = JSON.parse(readFileSync(`${LAB}/fates.json`, 'utf8')) as readonly Fate[];
const home = mkdtempSync(join(tmpdir(), 'asya-demo-'));
const startedAt = Date.now();

const reading = readMesh(LAB);
if ('mistakes' in reading) throw new Error(JSON.stringify(reading.mistakes));
const { manifest } = reading;
say(`${LAB}: ${manifest.actors.length} actors, each with a queue, a function and a runtime of its own`);
const started = await startMesh({ manifest, folder: LAB, replicas: 1, tell: () => {} });
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
  process.once(signal, () => void leave().then(() => process.exit(EXIT.interrupted)));
}
let isAsTold = false;
try {
  isAsTold = await play();
} finally {
  await leave();
}
process.exit(isAsTold ? EXIT.ok : EXIT.failed);

async function leave(): Promise<void> {
  stores.close();
  await mesh.close(1_000);
  rmSync(home, { recursive: true, force: true });
}

async function play(): Promise<boolean> {
  say('sending one envelope to each flow; the slowest takes half a minute on purpose\n');
  const rows = await Promise.all(fates.map(playOne));
  const all = [...rows, await replayOne()];
  console.log(
    `\n${tableText<Row>(
      [
        { title: '', text: ({ expected, came }) => (expected === came ? 'ok' : 'NOT') },
        { title: 'FATE', text: ({ fate }) => fate },
        { title: 'EXPECTED', text: ({ expected }) => expected },
        { title: 'CAME', text: ({ came }) => came },
        { title: 'BECAUSE', text: ({ says }) => says },
      ],
      all,
    )}\n`,
  );
  const wrong = all.filter(({ expected, came }) => expected !== came);
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  console.log(
    wrong.length === 0
      ? `all ${all.length} as expected, in ${seconds} s`
      : `${wrong.length} of ${all.length} not as expected, in ${seconds} s`,
  );
  return wrong.length === 0;
}

async function playOne(fate: Fate): Promise<Row> {
  const id = await sendTo(fate.flow, fate.payload);
  const records = await untilEnded(id, fate.ends);
  const came = await Promise.all(records.map((record) => endText(record, fate.attempts !== null)));
  say(`${fate.flow}: ${came[0] ?? 'no end'}`);
  const expected = `${fate.folder}, ${fate.reason} at ${fate.actor}${attemptsText(fate.attempts)}`;
  const isAll = came.length === fate.ends && came.every((one) => one === came[0]);
  return {
    fate: fate.flow,
    expected: times(expected, fate.ends),
    came: isAll ? times(came[0] ?? '', came.length) : came.join(' + '),
    says: fate.says,
  };
}

function times(text: string, count: number): string {
  return count === 1 ? text : `${count} × ${text}`;
}

function attemptsText(attempts: number | null | undefined): string {
  return attempts === null || attempts === undefined ? '' : `, attempt ${attempts}`;
}

async function endText({ archiveKey, reason, actor }: EndRecord, isCounted: boolean): Promise<string> {
  const text = await untilKept(archiveKey);
  const { attempt } = text === undefined ? {} : (JSON.parse(text) as { status: { attempt?: number } }).status;
  return `${archiveKey.split('/')[0]}, ${reason} at ${actor}${isCounted ? attemptsText(attempt) : ''}`;
}

/** An end is claimed first and archived after: who looks between the two finds the one without the other. */
async function untilKept(archiveKey: string): Promise<string | undefined> {
  for (;;) {
    const kept = await stores.archive.get(archiveKey);
    if (kept.ok && kept.text !== undefined) return kept.text;
    if (Date.now() - startedAt > GIVE_UP_MS) return undefined;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The payload is mended by a patch, and the group sent once more, by the very command that one would type. */
async function replayOne(): Promise<Row> {
  const flow = 'is-not-retryable';
  const lines: string[] = [];
  const terminal: Terminal = {
    ...quietTerminal(),
    print: (text) => lines.push(text),
    printError: (text) => lines.push(text),
  };
  const failure = await untilListed(flow, terminal, lines);
  const says = `the payload of ${flow} is mended by a JSON Patch and sent once more: it succeeds`;
  const expected = 'exit status 0';
  if (failure === undefined) return { fate: 'and a replay', expected, came: 'no failure to replay', says };
  const patch = '[{"op":"add","path":"/isMended","value":true}]';
  const command = ['replay', '--group', failure.group, '--patch', patch, '--timeout', '1m', '--go'];
  say(`asya ${command.join(' ')}`);
  const status = await main(command, terminal);
  for (const line of lines) say(`  ${line}`);
  return {
    fate: 'and a replay',
    expected,
    came: `exit status ${status}`,
    says,
  };
}

/** x-sump lists what failed, after x-sink has told its end. */
async function untilListed(
  actor: string,
  terminal: Terminal,
  lines: string[],
): Promise<{ readonly group: string } | undefined> {
  for (;;) {
    await main(['failures', '--actor', actor, '--json'], terminal);
    const [failure] = JSON.parse(lines.splice(0).join('\n')) as readonly { readonly group: string }[];
    if (failure !== undefined || Date.now() - startedAt > GIVE_UP_MS) return failure;
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
    printError: (text) => say(text),
    print: (text) => (id = text),
  };
  await main(['send', flow, '--payload', JSON.stringify(payload)], terminal);
  return id;
}

/** A fan-out's other ends have ids of their own, which only their records tell. */
async function untilEnded(id: string, count: number): Promise<readonly EndRecord[]> {
  for (;;) {
    const own = await stores.records.ofEnvelope(id);
    const ends = own.ok && own.records.length > 0 ? [...own.records, ...(await children(id, count - 1))] : [];
    if (ends.length >= count || Date.now() - startedAt > GIVE_UP_MS) return ends;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

async function children(parent: string, count: number): Promise<readonly EndRecord[]> {
  const { deriveId } = await import('../lib/adapters/system/system.ts');
  const ids = Array.from({ length: count }, (_, at) => deriveId('fan-out', parent, 'fans-out', 0, at + 1));
  const ends = await Promise.all(ids.map((id) => stores.records.ofEnvelope(id)));
  return ends.flatMap((end) => (end.ok ? end.records : []));
}

function say(words: string): void {
  console.log(`${((Date.now() - startedAt) / 1000).toFixed(1).padStart(5)} s  ${words}`);
}
