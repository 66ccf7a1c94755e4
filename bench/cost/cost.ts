import {
  dollarsFor,
  PRICED_UNITS,
  PRICES,
  PRICES_DATE,
  PRICES_REGION,
} from '../../lib/config/scaling/prices.ts';
import type { Row } from '../report.ts';
import { type CountedMesh, startCountedMesh } from './counted-mesh.ts';
import { type Counted, IDLE_POLLS } from './request-counter.ts';

const ONE_BY_ONE = 10;
const AT_ONCE = 1_000;
/** Below the gateway's limit of requests in progress. */
const CALLERS = 100;

interface Case {
  readonly name: string;
  readonly envelopes: number;
  readonly counted: Counted;
}

/** The requests of an envelope by service and operation, and what AWS would bill for them. */
export async function benchCost(): Promise<readonly Row[]> {
  const cases = [
    ...(await withMesh(0, async (mesh) => [
      await oneByOne(mesh, 'tracked, low load', () => track(mesh)),
      await atOnce(mesh, 'tracked, full load', () => track(mesh)),
      await oneByOne(mesh, 'untracked, low load', untracked(mesh)),
      await atOnce(mesh, 'untracked, full load', untracked(mesh)),
    ])),
    ...(await withMesh(1, async (mesh) => [
      await atOnce(mesh, 'tracked, 1 s window', () => track(mesh)),
      await atOnce(mesh, 'untracked, 1 s window', untracked(mesh)),
    ])),
  ];
  process.stdout.write(`${tableOf(cases)}\n\n`);
  return cases.flatMap(rowsOf);
}

/** @param archiveWindowSeconds How long x-sink collects ends. */
async function withMesh(
  archiveWindowSeconds: number,
  measure: (mesh: CountedMesh) => Promise<readonly Case[]>,
): Promise<readonly Case[]> {
  const mesh = await startCountedMesh({ archiveWindowSeconds });
  try {
    // Not counted: functions load, queues are looked up.
    await oneByOne(mesh, 'warm-up', () => track(mesh), 2);
    await oneByOne(mesh, 'warm-up', untracked(mesh), 2);
    return await measure(mesh);
  } finally {
    await mesh.close();
  }
}

/** Starts an envelope. Resolves with its task's id, if it has one. */
type Start = () => Promise<readonly string[]>;

const track = async (mesh: CountedMesh) => [await mesh.create()];

function untracked(mesh: CountedMesh): Start {
  return async () => {
    await mesh.send(crypto.randomUUID());
    return [];
  };
}

async function oneByOne(
  mesh: CountedMesh,
  name: string,
  start: Start,
  envelopes = ONE_BY_ONE,
): Promise<Case> {
  for (let nth = 1; nth <= envelopes; nth++) await mesh.untilEnded(nth, await start());
  return { name, envelopes, counted: await mesh.take() };
}

async function atOnce(mesh: CountedMesh, name: string, start: Start): Promise<Case> {
  const tasks: string[] = [];
  let started = 0;
  const caller = async () => {
    while (started++ < AT_ONCE) tasks.push(...(await start()));
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  await mesh.untilEnded(AT_ONCE, tasks);
  return { name, envelopes: AT_ONCE, counted: await mesh.take() };
}

function tableOf(cases: readonly Case[]): string {
  const operations = [...new Set(cases.flatMap(({ counted }) => [...counted.requests.keys()]))].sort();
  const perEnvelope = (one: Case, count = 0) => (count === 0 ? '' : (count / one.envelopes).toFixed(2));
  const lines = [
    ['requests per envelope', ...cases.map(({ name }) => name)],
    ...operations.map((name) => [
      name === IDLE_POLLS ? `${name}, not priced` : name,
      ...cases.map((one) => perEnvelope(one, one.counted.requests.get(name))),
    ]),
    [''],
    [`billed per envelope (prices of ${PRICES_DATE}, ${PRICES_REGION})`],
    ...PRICED_UNITS.filter((unit) => cases.some(({ counted }) => counted.units.has(unit))).map((unit) => [
      `${PRICES[unit].service} ${PRICES[unit].unit}`,
      ...cases.map((one) => perEnvelope(one, one.counted.units.get(unit))),
    ]),
    ['dollars per million envelopes', ...cases.map((one) => dollarsPerMillion(one).toFixed(2))],
  ];
  const columns = [0, ...cases.map((_, at) => at + 1)];
  const widths = columns.map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))),
    )
    .map((line) => line.join('  ').trimEnd())
    .join('\n');
}

function dollarsPerMillion({ envelopes, counted }: Case): number {
  const dollars = [...counted.units].reduce((sum, [unit, amount]) => sum + dollarsFor(unit, amount), 0);
  return (dollars / envelopes) * 1_000_000;
}

interface Goals {
  readonly writes: number;
  readonly reads?: number;
  readonly s3: number;
  readonly sqs?: number;
}

/** At full load, per envelope. */
const TRACKED: Goals = { writes: 3, reads: 1, s3: 0.1, sqs: 2 };
const UNTRACKED: Goals = { writes: 1, s3: 0.1 };
const GOALS: Readonly<Record<string, Goals>> = {
  'tracked, full load': TRACKED,
  'untracked, full load': UNTRACKED,
  'tracked, 1 s window': TRACKED,
  'untracked, 1 s window': UNTRACKED,
};

function rowsOf(one: Case): readonly Row[] {
  const { name, envelopes, counted } = one;
  const { writes, reads, requests } = counted;
  const requestsTo = (service: string) =>
    [...requests].reduce(
      (sum, [operation, count]) =>
        operation.startsWith(`${service} `) && operation !== IDLE_POLLS ? sum + count : sum,
      0,
    );
  const goals = GOALS[name];
  const row = (group: string, count: number, unit: string, atMost: number | undefined): Row => ({
    group,
    name,
    ratio: count / envelopes,
    unit,
    ...(atMost !== undefined && { atMost }),
  });
  return [
    row('DynamoDB writes per envelope', writes, 'writes', goals?.writes),
    row('DynamoDB reads per envelope', reads, 'reads', goals?.reads),
    row('S3 requests per envelope', requestsTo('S3'), 'requests', goals?.s3),
    row('SQS requests per envelope', requestsTo('SQS'), 'requests', goals?.sqs),
    row('cost of a million envelopes', dollarsPerMillion(one) * envelopes, 'dollars', undefined),
  ];
}
