import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { bytesFromTask, taskFromBytes } from '../../../lib/adapters/dynamodb/task-bytes.ts';
import { limitProgress, MAX_DATA_BYTES } from '../../../lib/core/task/progress-limits.ts';
import type { Report } from '../../../lib/core/task/report.ts';
import { latestProgress, type Task } from '../../../lib/core/task/task.ts';
import { MAX_EVENTS, MAX_PROGRESS_EVENTS } from '../../../lib/core/task/task-event.ts';
import { applyReport, applyReports } from '../../../lib/core/task/task-report.ts';
import type { JsonText } from '../../../lib/core/text/json-text.ts';
import { NOW } from '../a-delivery.ts';
import { anEndOf, anUpdate, aStep, aTask } from '../a-task.ts';

const CHILD = { envelope_id: 'c-1' };

/** One request per report, a second apart. */
function taskAfter(reports: readonly Report[], task: Task = aTask()): Task {
  return reports.reduce((one, report, nth) => applyReports(one, [report], NOW + 1_000 * (nth + 1)), task);
}

function updates(task: Task): readonly (readonly unknown[])[] {
  return task.events
    .filter(({ type }) => type === 'progress')
    .map(({ seq, child, percent, message }) => [seq, child, percent, message]);
}

describe("a handler's progress", () => {
  it('is an event with the percentage of the task: the actors passed and the part of the current one', () => {
    const task = taskAfter([
      aStep('received', 1),
      anUpdate(1, 1, { percent: 50, message: 'frame 3 of 6', data: '{"frame":3}' as JsonText }),
    ]);
    expect(task).toMatchObject({
      state: 'running',
      progress: { done: ['fetch'], current: 'score', percent: 50 },
    });
    expect(task.events.at(-1)).toMatchObject({
      seq: 3,
      type: 'progress',
      actor: 'score',
      percent: 50,
      message: 'frame 3 of 6',
      data: '{"frame":3}',
      progress: { percent: 50 },
    });
    expect(latestProgress(task)).toBe(task.events.at(-1));
  });

  it('never decreases the percentage of the task, not even in another attempt', () => {
    const task = taskAfter([anUpdate(1, 1, { percent: 80 }), anUpdate(1, 2, { attempt: 2, percent: 10 })]);
    expect([task.progress.percent, latestProgress(task)?.percent]).toEqual([60, 10]);
    expect(taskAfter([aStep('completed', 1, { attempt: 2 })], task).progress.percent).toBe(66);
  });

  it('does not complete the task at 100 % of the last actor', () => {
    expect(taskAfter([anUpdate(2, 1, { percent: 100 })]).progress.percent).toBe(99);
  });

  it('without a percentage leaves the percentage of the task as it is', () => {
    expect(taskAfter([anUpdate(1, 1, { message: 'loading' })]).progress.percent).toBe(33);
  });

  it('replaces the earlier event of the same envelope, with a new number', () => {
    const task = taskAfter([
      aStep('received', 0),
      anUpdate(0, 1, { percent: 10 }),
      anUpdate(0, 1, { ...CHILD, message: 'mine' }),
      anUpdate(0, 2, { percent: 20 }),
      anUpdate(0, 3, { percent: 30 }),
    ]);
    expect(updates(task)).toEqual([
      [4, 'c-1', undefined, 'mine'],
      [6, undefined, 30, undefined],
    ]);
    expect(task.events.map(({ seq }) => seq)).toEqual([1, 2, 4, 6]);
  });

  it('changes nothing if it is late, duplicated, or of an earlier attempt', () => {
    const task = taskAfter([
      aStep('received', 1, { attempt: 2 }),
      anUpdate(1, 5, { attempt: 2, percent: 50 }),
    ]);
    for (const late of [
      anUpdate(1, 5, { attempt: 2, percent: 60 }),
      anUpdate(1, 4, { attempt: 2, percent: 60 }),
      anUpdate(1, 9, { percent: 60 }),
      anUpdate(0, 9, { percent: 60 }),
      aStep('processing', 1, { attempt: 2 }),
    ])
      expect(applyReport(task, late, NOW + 9_000)).toBe(task);
    const completed = taskAfter([aStep('completed', 1, { attempt: 2 })], task);
    expect(applyReport(completed, anUpdate(1, 99, { attempt: 2 }), NOW + 9_999)).toBe(completed);
  });

  it('changes nothing after the end, for children either', () => {
    const ended = taskAfter([aStep('processing', 1, CHILD), anEndOf('succeeded')]);
    expect(applyReport(ended, anUpdate(2, 1), NOW + 9_000)).toBe(ended);
    expect(applyReport(ended, anUpdate(1, 1, CHILD), NOW + 9_000)).toBe(ended);
  });
});

describe('updates of fan-out children', () => {
  it('are accepted four times a second for all children together; the root is not affected', () => {
    const first = applyReports(aTask(), [anUpdate(1, 1, CHILD)], NOW);
    const second = anUpdate(1, 1, { envelope_id: 'c-2' });
    expect(applyReports(first, [second], NOW + 249)).toBe(first);
    expect(applyReports(first, [second, anUpdate(1, 1)], NOW + 249).version).toBe(first.version + 1);
    expect(applyReports(first, [second], NOW + 250).version).toBe(first.version + 1);
  });

  it('are accepted together if one request has several, because that is one write', () => {
    const many = ['c-1', 'c-2', 'c-3'].map((envelope_id) => anUpdate(1, 1, { envelope_id }));
    expect(updates(applyReports(aTask(), many, NOW))).toHaveLength(3);
  });

  it('do not delay or drop their other reports', () => {
    const task = applyReports(aTask(), [anUpdate(1, 1, CHILD)], NOW);
    const completed = applyReports(task, [aStep('completed', 1, CHILD)], NOW);
    expect(completed.events.at(-1)).toMatchObject({ type: 'completed', child: 'c-1' });
  });

  it('have few events, which never push out others', () => {
    const children = Array.from({ length: 50 }, (_, nth) => anUpdate(1, 1, { envelope_id: `c-${nth}` }));
    const steps = Array.from({ length: MAX_EVENTS + 10 }, (_, nth) => aStep('received', nth));
    const task = taskAfter([...children, ...steps, anUpdate(MAX_EVENTS + 20, 1)]);
    expect(updates(task)).toHaveLength(MAX_PROGRESS_EVENTS);
    expect(task.events.length).toBe(MAX_EVENTS + MAX_PROGRESS_EVENTS);
    expect(task.events.at(-1)?.type).toBe('progress');
  });

  it('fit into one item next to all other events, even if their data does not compress', () => {
    const random = () => JSON.stringify(randomBytes(MAX_DATA_BYTES / 2 - 1).toString('hex')) as JsonText;
    const children = Array.from({ length: 50 }, (_, nth) =>
      anUpdate(1, 1, { envelope_id: `c-${nth}`, data: random() }),
    );
    const steps = Array.from({ length: MAX_EVENTS }, (_, nth) => aStep('received', nth));
    const task = taskAfter([...steps, ...children]);
    const stored = bytesFromTask(task);
    expect(stored.length).toBeLessThan(100 * 1024);
    expect(taskFromBytes(stored)?.events).toHaveLength(MAX_EVENTS + MAX_PROGRESS_EVENTS);
  });
});

describe('limitProgress', () => {
  it.each([
    [{ percent: -1 }, { percent: 0 }],
    [{ percent: 1_000 }, { percent: 100 }],
    [{ percent: Number.POSITIVE_INFINITY }, { percent: 100 }],
    [{ percent: Number.NaN }, {}],
    [{ percent: 33.333 }, { percent: 33.3 }],
    [{ percent: '40' as unknown as number, message: 7 as unknown as string }, {}],
    [{ message: '' }, {}],
    [{ message: 'é'.repeat(999) }, { message: 'é'.repeat(512) }],
    [{ data: `"${'x'.repeat(4_094)}"` as JsonText }, { data: `"${'x'.repeat(4_094)}"` }],
    [{ percent: 5, data: `"${'x'.repeat(4_095)}"` as JsonText }, { percent: 5 }],
    [{ message: 'm', data: '{"n": NaN}' as JsonText }, { message: 'm' }],
    [{ data: '' as JsonText }, {}],
    [{}, {}],
  ])('limits case %#', (given, expected) => {
    expect(limitProgress(given)).toEqual(expected);
  });
});
