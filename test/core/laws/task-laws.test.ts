import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { Report } from '../../../lib/core/task/report.ts';
import { isFinal, type Task, type TaskEvent, type TaskState } from '../../../lib/core/task/task.ts';
import { cancelTask, expireTask } from '../../../lib/core/task/task-end.ts';
import { applyReport } from '../../../lib/core/task/task-report.ts';
import { NOW } from '../a-delivery.ts';
import { anEndOf, anUpdate, aStep, aTask } from '../a-task.ts';
import { law } from '../law.ts';

type TaskChange = { readonly report: Report } | 'cancel' | 'expire';

const id = fc.constantFrom('t-1', 't-1', 't-1', 'c-1', 'c-2');
const taskChange: fc.Arbitrary<TaskChange> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .tuple(
        fc.constantFrom('received' as const, 'processing' as const, 'completed' as const),
        fc.nat(3),
        fc.integer({ min: 1, max: 3 }),
        id,
      )
      .map(([event, hop, attempt, envelope_id]) => ({ report: aStep(event, hop, { attempt, envelope_id }) })),
  },
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        fc.nat(3),
        fc.integer({ min: 1, max: 3 }),
        fc.nat(5),
        fc.double({ min: 0, max: 100, noNaN: true }),
        id,
      )
      .map(([hop, attempt, order, percent, envelope_id]) => ({
        report: anUpdate(hop, order, { attempt, percent, envelope_id }),
      })),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('succeeded' as const, 'failed' as const, 'canceled' as const), id)
      .map(([phase, envelope_id]) => ({ report: anEndOf(phase, { envelope_id }) })),
  },
  { weight: 1, arbitrary: fc.constantFrom('cancel' as const, 'expire' as const) },
);
const taskChanges = fc.array(taskChange, { maxLength: 25 });

const RANKS: Readonly<Record<TaskState, number>> = {
  pending: 0,
  running: 1,
  paused: 1,
  succeeded: 2,
  failed: 2,
  canceled: 2,
};

function next(task: Task, what: TaskChange, now: number): Task {
  if (what === 'cancel') return cancelTask(task, now);
  return what === 'expire' ? expireTask(task, now) : applyReport(task, what.report, now);
}

function historyOf(all: readonly TaskChange[]): readonly Task[] {
  const history = [aTask()];
  for (const [index, what] of all.entries()) history.push(next(history.at(-1) as Task, what, NOW + index));
  return history;
}

function lastOf(all: readonly TaskChange[]): Task {
  return historyOf(all).at(-1) as Task;
}

function isSameUpdate(one: TaskEvent, other: TaskEvent): boolean {
  return one.type === other.type && one.child === other.child;
}

/** Children may end after the root. */
function withoutChildren({ children, version, ...rest }: Task): Omit<Task, 'children' | 'version'> {
  return rest;
}

function kindsOf(all: readonly TaskChange[]): readonly string[] {
  const last = lastOf(all);
  const ends = all.filter((what) => typeof what === 'string' || what.report.event === 'final').length;
  return [last.state, ...(ends > 1 && isFinal(last.state) ? ['more than one end'] : [])];
}

const KINDS = ['pending', 'running', 'succeeded', 'failed', 'canceled', 'more than one end'];

describe('reports in any order', () => {
  law(
    'a task only moves forward, and an end is final',
    taskChanges,
    (all) => {
      const history = historyOf(all);
      for (const [index, task] of history.entries()) {
        const before = history[index - 1];
        if (before === undefined) continue;
        expect(RANKS[task.state]).toBeGreaterThanOrEqual(RANKS[before.state]);
        expect(task.progress.percent).toBeGreaterThanOrEqual(before.progress.percent);
        if (isFinal(before.state)) expect(withoutChildren(task)).toEqual(withoutChildren(before));
        for (const [child, { state }] of Object.entries(before.children)) {
          if (isFinal(state)) expect(task.children[child]?.state).toBe(state);
        }
      }
    },
    kindsOf,
    KINDS,
  );

  law(
    'every change is one version and, until the end, one event',
    taskChanges,
    (all) => {
      const history = historyOf(all);
      for (const [index, task] of history.entries()) {
        const before = history[index - 1];
        if (before === undefined || task === before) continue;
        expect(task.version).toBe(before.version + 1);
        const [added, ...more] = task.events.filter((event) => !before.events.includes(event));
        expect(more).toEqual([]);
        expect(added?.seq).toBe(isFinal(before.state) ? undefined : (before.events.at(-1)?.seq ?? 0) + 1);
        const removed = before.events.filter((event) => !task.events.includes(event));
        const isReplaced = added?.type === 'progress';
        expect(removed).toEqual(isReplaced ? removed.filter((event) => isSameUpdate(event, added)) : []);
      }
      const { events, state } = history.at(-1) as Task;
      expect(events.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq).toSorted((a, b) => a - b));
      expect(events.at(-1)?.state).toBe(state);
      const updated = events.filter(({ type }) => type === 'progress').map(({ child }) => child);
      expect(new Set(updated).size).toBe(updated.length);
    },
    kindsOf,
    KINDS,
  );

  law(
    'only the root ends its task, and duplicates change nothing',
    taskChanges,
    (all) => {
      const ends = all.filter(
        (what) =>
          typeof what === 'string' || (what.report.event === 'final' && what.report.envelope_id === 't-1'),
      );
      expect(isFinal(lastOf(all).state)).toBe(ends.length > 0);
      const twice = all.flatMap((what) => [what, what]);
      expect(lastOf(twice).events.map(({ type, child, actor }) => [type, child, actor])).toEqual(
        lastOf(all).events.map(({ type, child, actor }) => [type, child, actor]),
      );
    },
    kindsOf,
    KINDS,
  );
});
