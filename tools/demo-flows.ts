import { setTimeout as pause } from 'node:timers/promises';
import { deriveId } from '../lib/adapters/system/system.ts';
import type { Stores } from '../lib/assembly/from-config/crew-from-config.ts';
import { main } from '../lib/cli/main.ts';
import type { Terminal } from '../lib/cli/output/terminal.ts';
import type { EndRecord } from '../lib/core/failure/record.ts';
import type { DemoRow } from './demo-table.ts';

export interface ExpectedOutcome {
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

export interface DemoMesh {
  /** Its name for `--mesh`. */
  readonly name: string;
  /** The folder in which commands find it. */
  readonly home: string;
  readonly stores: Stores;
  readonly log: (text: string) => void;
}

/** Usually it takes less than a minute. A busy machine needs longer to start fifteen functions. */
const TIMEOUT_MS = 180_000;
/** Its handler fails until a patch fixes the payload. */
const REPLAYED_FLOW = 'is-not-retryable';

/** Sends one envelope to each flow and waits for its outcome, then replays a failure. */
export async function runFlows(
  outcomes: readonly ExpectedOutcome[],
  mesh: DemoMesh,
): Promise<readonly DemoRow[]> {
  const givesUpAt = Date.now() + TIMEOUT_MS;
  const rows = await Promise.all(outcomes.map((outcome) => runOutcome(outcome, mesh, givesUpAt)));
  return [...rows, await replayOne(mesh, givesUpAt)];
}

async function runOutcome(outcome: ExpectedOutcome, mesh: DemoMesh, givesUpAt: number): Promise<DemoRow> {
  const { flow, ends, folder, reason, actor, attempts, explanation } = outcome;
  const payload = JSON.stringify(outcome.payload);
  const [id = ''] = (await asya(mesh, ['send', flow, '--payload', payload])).lines;
  const records = await untilEnded(id, ends, mesh.stores, givesUpAt);
  const found = await Promise.all(records.map((record) => attemptOf(record, mesh.stores, givesUpAt)));
  const actual = records.map(({ archiveKey, reason: why, actor: at }, index) =>
    outcomeText(flow, archiveKey?.split('/')[0], why, at, attempts === null ? null : found[index]),
  );
  const isAll = actual.length === ends && actual.every((one) => one === actual[0]);
  const row = {
    name: flow,
    expected: times(outcomeText(flow, folder, reason, actor, attempts), ends),
    actual: isAll ? times(actual[0] ?? '', ends) : actual.join(' + '),
    explanation,
  };
  mesh.log(`${flow}: ${row.actual || 'did not end'}`);
  return row;
}

/** The actor is named only if it is not the one of the flow. */
function outcomeText(
  flow: string,
  folder: string | undefined,
  reason: string,
  actor: string,
  attempt: number | null | undefined,
): string {
  const where = actor === flow ? '' : ` at ${actor}`;
  return `${folder}: ${reason}${where}${attempt ? `, attempt ${attempt}` : ''}`;
}

function times(text: string, count: number): string {
  return count === 1 ? text : `${count} × ${text}`;
}

/** x-sink records an end before it archives the envelope, so a record can exist without an archived envelope. */
async function attemptOf(
  { archiveKey }: EndRecord,
  { archive }: Stores,
  givesUpAt: number,
): Promise<number | undefined> {
  for (;;) {
    const archived = await archive.get(archiveKey ?? '');
    if (archived.ok && archived.text !== undefined)
      return (JSON.parse(archived.text) as { status: { attempt?: number } }).status.attempt;
    if (Date.now() > givesUpAt) return undefined;
    await pause(100);
  }
}

/** Runs `asya replay` for one group of failures, with a patch that fixes the payload. */
async function replayOne(mesh: DemoMesh, givesUpAt: number): Promise<DemoRow> {
  const row = {
    name: 'replay',
    expected: 'exit status 0',
    explanation: `a patch fixes ${REPLAYED_FLOW}`,
  };
  const failure = await untilIndexed(REPLAYED_FLOW, mesh, givesUpAt);
  if (failure === undefined) return { ...row, actual: 'no failure to replay' };
  const patch = '[{"op":"add","path":"/isFixed","value":true}]';
  const options = ['--group', failure.group, '--patch', patch, '--timeout', '1m', '--go'];
  const { status, lines } = await asya(mesh, ['replay', ...options]);
  mesh.log(`replay: ${lines.at(-1) ?? `exit status ${status}`}`);
  return { ...row, actual: `exit status ${status}` };
}

/** x-sump indexes a failure after x-sink has recorded the end. */
async function untilIndexed(
  actor: string,
  mesh: DemoMesh,
  givesUpAt: number,
): Promise<{ readonly group: string } | undefined> {
  for (;;) {
    const { lines } = await asya(mesh, ['failures', '--actor', actor, '--json']);
    const [failure] = JSON.parse(lines.join('\n')) as readonly { readonly group: string }[];
    if (failure !== undefined || Date.now() > givesUpAt) return failure;
    await pause(300);
  }
}

/** The children of a fan-out have their own ids, so their records are looked up separately. */
async function untilEnded(
  id: string,
  count: number,
  { records }: Stores,
  givesUpAt: number,
): Promise<readonly EndRecord[]> {
  const ids = [
    id,
    ...Array.from({ length: count - 1 }, (_, at) => deriveId('fan-out', id, 'fans-out', 0, at + 1)),
  ];
  for (;;) {
    const found = await Promise.all(ids.map((one) => records.ofEnvelope(one)));
    const ends = found.flatMap((one) => (one.ok ? one.records : []));
    if (ends.length >= count || Date.now() > givesUpAt) return ends;
    await pause(300);
  }
}

/** Runs a command of `asya` in this process. */
async function asya({ home, name }: DemoMesh, args: readonly string[]) {
  const lines: string[] = [];
  const collect = (text: string) => lines.push(...text.split('\n'));
  const terminal: Terminal = {
    env: {},
    cwd: home,
    now: Date.now,
    print: collect,
    printError: collect,
    isInteractive: false,
    confirm: () => Promise.resolve(false),
    stop: () => new AbortController().signal,
  };
  const status = await main([...args, '--mesh', name], terminal);
  return { status, lines };
}
