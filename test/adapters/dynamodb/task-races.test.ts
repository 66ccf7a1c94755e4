import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { dynamoDbTaskStore } from '../../../lib/adapters/dynamodb/dynamodb-task-store.ts';
import { ensureTable, getItem } from '../../../lib/adapters/dynamodb/table.ts';
import { systemRandom } from '../../../lib/adapters/system/system.ts';
import type { Report } from '../../../lib/core/task/report.ts';
import { isFinal, type Task } from '../../../lib/core/task/task.ts';
import { cancelTask, expireTask } from '../../../lib/core/task/task-end.ts';
import type { TaskStore } from '../../../lib/ports/task-store.ts';
import { NOW } from '../../core/a-delivery.ts';
import { anEndOf, anUpdate, aStep, aTask } from '../../core/a-task.ts';
import { startClientOfDynamoDb } from '../../support/embedded-dynamodb.ts';

let client: DynamoDBClient;
beforeAll(async () => {
  const dynamoDb = await startClientOfDynamoDb();
  client = dynamoDb.client;
  await ensureTable({ client, name: 'tasks' });
  return dynamoDb.close;
});

/** What happens to a request. `repeated`: the client sends it again, because the answer was lost. */
type Fault = 'none' | 'refused' | 'answer lost' | 'repeated';

/** The store in a process whose requests meet these faults, in order. */
function aStore(faults: readonly Fault[]): TaskStore {
  let requests = 0;
  const faulty: Pick<DynamoDBClient, 'send'> = {
    send: async (command: Parameters<DynamoDBClient['send']>[0]) => {
      const fault = faults[requests++] ?? 'none';
      if (fault === 'refused') throw new Error('refused');
      if (fault === 'repeated') await client.send(command).catch(() => {});
      const answer = await client.send(command);
      if (fault === 'answer lost') throw new Error('the answer was lost');
      return answer;
    },
  };
  const clock = { now: () => NOW, sleep: async () => {} };
  return dynamoDbTaskStore({ client: faulty as DynamoDBClient, name: 'tasks' }, clock, systemRandom);
}

const REPORTS: readonly Report[] = [
  aStep('processing', 0),
  aStep('processing', 1),
  aStep('processing', 2),
  anUpdate(1, 1, { percent: 50 }),
  { ...aStep('processing', 1), envelope_id: 'c-1' },
  anEndOf('failed', { envelope_id: 'c-1' }),
  anEndOf('succeeded'),
  anEndOf('failed'),
  anEndOf('canceled'),
];
type Step = { readonly report: Report } | 'cancel' | 'expire';
const step = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...REPORTS).map((report): Step => ({ report })) },
  { weight: 1, arbitrary: fc.constantFrom<Step>('cancel', 'expire') },
);
const fault = fc.constantFrom<Fault>('none', 'none', 'none', 'refused', 'answer lost', 'repeated');
/** What happens at the same time in several instances of the gateway. */
const round = fc.array(
  fc.record({
    steps: fc.array(step, { minLength: 1, maxLength: 5 }),
    faults: fc.array(fault, { maxLength: 6 }),
  }),
  { minLength: 1, maxLength: 3 },
);

const isEnd = (one: Step) =>
  typeof one === 'string' || (one.report.event === 'final' && one.report.envelope_id === 't-1');

let tasks = 0;

it('a task keeps its first end and its events, whatever happens at the same time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 5 }), async (rounds) => {
      const id = `t-${++tasks}`;
      const calm = aStore([]);
      await calm.create(aTask({ id }));
      let ended: Task | undefined;
      let events: Task['events'] = [];
      let hasEnd = false;
      for (const [nth, instances] of rounds.entries()) {
        const now = NOW + 1_000 * (nth + 1);
        await Promise.all(
          instances.flatMap(({ steps, faults }) => {
            const store = aStore(faults);
            return steps.map(async (one) => {
              const reply =
                one === 'cancel'
                  ? await store.update(id, (task) => cancelTask(task, now))
                  : one === 'expire'
                    ? await store.update(id, (task) => expireTask(task, now))
                    : await store.report(
                        id,
                        [
                          {
                            ...one.report,
                            task: id,
                            ...(one.report.envelope_id === 't-1' && { envelope_id: id }),
                          },
                        ],
                        now,
                      );
              hasEnd ||= reply.ok && isEnd(one);
            });
          }),
        );
        const got = await calm.get(id);
        const task = got.ok ? got.task : undefined;
        if (task === undefined) throw new Error('the task is gone');
        if (hasEnd) expect(isFinal(task.state)).toBe(true);
        if (ended !== undefined) {
          const { children: _c, version: _v, ...rest } = task;
          expect(ended).toMatchObject({ ...rest });
        }
        if (isFinal(task.state)) ended ??= task;
        const isKept = (event: Task['events'][number]) => event.type !== 'progress';
        expect(task.events.filter(isKept).slice(0, events.length)).toEqual(events);
        events = task.events.filter(isKept);
        const seqs = task.events.map(({ seq }) => seq);
        expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
        const item = await getItem({ client, name: 'tasks' }, `task#${id}`);
        if (task.state !== 'pending') expect(item?.['state']?.S).toBe(task.state);
        const ends = task.events.filter(({ type, child }) => type === 'ended' && child === undefined);
        expect(ends.length).toBe(isFinal(task.state) ? 1 : 0);
      }
    }),
    { numRuns: 60 },
  );
});
