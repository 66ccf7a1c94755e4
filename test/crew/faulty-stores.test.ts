import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { dynamoDbEndRecords } from '../../lib/adapters/dynamodb/dynamodb-end-records.ts';
import { dynamoDbFailureIndex } from '../../lib/adapters/dynamodb/dynamodb-failure-index.ts';
import { ensureTable, type Table } from '../../lib/adapters/dynamodb/table.ts';
import { deriveId } from '../../lib/adapters/system/system.ts';
import { archiveWithBatches } from '../../lib/app/crew/archive-with-batches.ts';
import { crewRuntime } from '../../lib/app/crew/crew.ts';
import { encode } from '../../lib/core/envelope/encode.ts';
import type { Envelope } from '../../lib/core/envelope/envelope.ts';
import { recordOf } from '../../lib/core/failure/record.ts';
import type { Archive } from '../../lib/ports/archive.ts';
import { ACCEPTED, type Refusal } from '../../lib/ports/reply.ts';
import type { Runtime } from '../../lib/ports/runtime.ts';
import { NOW } from '../core/a-delivery.ts';
import { A_FAILURE, aFailed } from '../core/an-end.ts';
import { startClientOfDynamoDb } from '../support/embedded-dynamodb.ts';

let client: DynamoDBClient;
beforeAll(async () => {
  const dynamoDb = await startClientOfDynamoDb();
  client = dynamoDb.client;
  return dynamoDb.close;
});

/** What happens to a request. `repeated`: the client sends it again, because the answer was lost. */
type Fault = 'none' | 'refused' | 'answer lost' | 'repeated';

interface Crew {
  readonly archive: Archive;
  readonly sink: Runtime;
  readonly sump: Runtime;
}

let clocks = 0;

/** x-sink and x-sump in a process whose requests meet these faults, in order. */
function aCrew({ name }: Table, objects: Map<string, string>, faults: readonly Fault[]): Crew {
  let requests = 0;
  async function guarded<T>(request: () => Promise<T>): Promise<T> {
    const fault = faults[requests++] ?? 'none';
    if (fault === 'refused') throw new Error('refused');
    if (fault === 'repeated') await request().catch(() => {});
    const answer = await request();
    if (fault === 'answer lost') throw new Error('the answer was lost');
    return answer;
  }
  const faulty: Pick<DynamoDBClient, 'send'> = {
    send: (command: Parameters<DynamoDBClient['send']>[0]) => guarded(() => client.send(command)),
  };
  const table = { client: faulty as DynamoDBClient, name };
  const orRefused = <T>(request: () => Promise<T>): Promise<T | Refusal> =>
    guarded(request).catch((error) => ({ ok: false, problem: String(error) }));
  const bucket: Archive = {
    put: (key, text) =>
      orRefused(async () => {
        objects.set(key, text);
        return ACCEPTED;
      }),
    get: (key) => orRefused(async () => ({ ok: true as const, text: objects.get(key) })),
    has: (key) => orRefused(async () => ({ ok: true as const, exists: objects.has(key) })),
    remove: () => Promise.resolve({ ok: false, problem: 'nothing is removed' }),
  };
  const now = NOW + clocks++;
  const deps = {
    archive: archiveWithBatches(bucket),
    records: dynamoDbEndRecords(table, deriveId),
    failures: dynamoDbFailureIndex(table, deriveId),
    clock: { now: () => now, sleep: () => new Promise<void>(() => {}) },
    deriveId,
    reports: { report: async () => undefined },
    telemetry: { warn: () => {} },
    onFailure: () => {},
  };
  return {
    archive: deps.archive,
    sink: crewRuntime({ role: 'sink', sump: 'x-sump' }, deps),
    sump: crewRuntime({ role: 'sump' }, deps),
  };
}

const SUCCEEDED = { ...A_FAILURE, phase: 'succeeded', reason: 'Completed', error: null };
const CANCELED = { ...A_FAILURE, phase: 'canceled', reason: null, error: null };
const nextDay = <T extends object>(status: T) => ({ ...status, updated_at: '2026-01-02T12:00:00Z' });
const STATUSES = [SUCCEEDED, SUCCEEDED, nextDay(SUCCEEDED), A_FAILURE, nextDay(A_FAILURE), CANCELED];
const REPLAYED = { 'x-asya-replay': 'r-1' };

/** Several of them are ends of one id. */
const anEnd = fc
  .record({
    id: fc.constantFrom('a', 'b', 'ü/#@=~', '3~a'),
    status: fc.constantFrom(...STATUSES),
    hop: fc.constantFrom(1, 2, 3),
    headers: fc.constantFrom({}, {}, REPLAYED),
  })
  .map(({ id, status, hop, headers }) =>
    aFailed({
      id,
      status,
      headers,
      route: { prev: ['x', 'y', 'z'].slice(0, hop), curr: 'score', next: [] },
      payload: `${id} ${status.phase} at hop ${hop} ☃ \u{1f600}`,
    }),
  );
const MOST = 10;
const someOf = fc.array(fc.nat({ max: MOST - 1 }), { maxLength: MOST });
const round = fc.record({
  /** What two processes receive at the same time. */
  one: someOf,
  other: someOf,
  faults: fc.array(fc.constantFrom<Fault>('none', 'none', 'refused', 'answer lost', 'repeated'), {
    maxLength: 20,
  }),
});

/** Delivers an end to x-sink, and a failed one to x-sump afterwards. Resolves with whether all acknowledged it. */
async function deliver(envelope: Envelope, { sink, sump }: Crew): Promise<boolean> {
  const request = { envelope, timeoutMs: 60_000 };
  if ((await sink.call(request)).kind !== 'empty') return false;
  return envelope.status?.phase !== 'failed' || (await sump.call(request)).kind === 'empty';
}

let tables = 0;

it('every end has one record, one envelope and, if it failed, one failure, whatever goes wrong', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anEnd, { minLength: 1, maxLength: MOST }),
      fc.array(round, { maxLength: 4 }),
      async (ends, rounds) => {
        const table = { client, name: `faulty-${++tables}` };
        await ensureTable(table);
        const objects = new Map<string, string>();
        const deliverAll = (indices: readonly number[], faults: readonly Fault[]) => {
          const crew = aCrew(table, objects, faults);
          return Promise.all(indices.flatMap((at) => ends[at] ?? []).map((one) => deliver(one, crew)));
        };
        for (const { one, other, faults } of rounds)
          await Promise.all([deliverAll(one, faults), deliverAll(other, faults.toReversed())]);
        expect(await deliverAll([...ends.keys()], [])).toEqual(ends.map(() => true));

        const records = dynamoDbEndRecords(table, deriveId);
        const failures = dynamoDbFailureIndex(table, deriveId);
        const { archive } = aCrew(table, objects, []);
        const byIdentity = Map.groupBy(ends, (one) => recordOf(one, NOW, deriveId).identity);
        const found: string[] = [];
        for (const id of new Set(ends.map((one) => one.id))) {
          const [stored, failed] = [await records.ofEnvelope(id), await failures.ofEnvelope(id)];
          if (!stored.ok || !failed.ok) throw new Error('a store refused');
          const keys = stored.records.map(({ archiveKey }) => archiveKey);
          expect(new Set(keys).size).toBe(keys.length);
          for (const { identity, archiveKey = '' } of stored.records) {
            const got = await archive.get(archiveKey);
            expect((byIdentity.get(identity) ?? []).map(encode)).toContain(got.ok && got.text);
          }
          const ofFailed = stored.records.filter(({ end }) => end === 'failed');
          expect(failed.failures.map(({ archiveKey }) => archiveKey).sort()).toEqual(
            ofFailed.map(({ archiveKey }) => archiveKey).sort(),
          );
          found.push(...stored.records.map(({ identity }) => identity));
        }
        expect(found.sort()).toEqual([...byIdentity.keys()].sort());
      },
    ),
    { numRuns: 25 },
  );
});
