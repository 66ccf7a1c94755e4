import { describe, expect, it } from 'vitest';
import type { Report } from '../../../lib/core/task/report.ts';
import type { Task } from '../../../lib/core/task/task.ts';
import { cancelTask, expireTask } from '../../../lib/core/task/task-end.ts';
import { MAX_EVENTS } from '../../../lib/core/task/task-event.ts';
import { applyReport, MAX_CHILDREN } from '../../../lib/core/task/task-report.ts';
import { NOW } from '../a-delivery.ts';
import { anEndOf, aStep, aTask } from '../a-task.ts';

function applyReports(reports: readonly Report[], task: Task = aTask()): Task {
  return reports.reduce((one, report, index) => applyReport(one, report, NOW + index + 1), task);
}

describe('createTask', () => {
  it('is pending, with the whole route left', () => {
    expect(aTask()).toMatchObject({
      state: 'pending',
      progress: { done: [], current: 'fetch', left: ['score', 'store'], percent: 0 },
      events: [{ seq: 1, type: 'created', state: 'pending' }],
      version: 1,
    });
  });
});

describe('reports about the root', () => {
  it('advance the task', () => {
    const task = applyReports([aStep('received', 0), aStep('processing', 0), aStep('completed', 0)]);
    expect(task).toMatchObject({
      state: 'running',
      progress: { done: ['fetch'], current: 'score', left: ['store'], percent: 33 },
      version: 4,
    });
    expect(task.events.map(({ seq, type, actor }) => [seq, type, actor])).toEqual([
      [1, 'created', undefined],
      [2, 'received', 'fetch'],
      [3, 'processing', 'fetch'],
      [4, 'completed', 'fetch'],
    ]);
  });

  it('change nothing if they are late or duplicated', () => {
    const task = applyReports([aStep('processing', 1)]);
    for (const late of [
      aStep('received', 1),
      aStep('processing', 1),
      aStep('completed', 0),
      aStep('received', 0),
    ]) {
      expect(applyReport(task, late, NOW + 9)).toBe(task);
    }
  });

  it('of another attempt at the same actor are applied', () => {
    const task = applyReports([aStep('processing', 1), aStep('received', 1, { attempt: 2 })]);
    expect(task.events.map(({ type }) => type)).toEqual(['created', 'processing', 'received']);
  });

  it('never decrease the progress if a handler makes the route longer', () => {
    const longer = { prev: ['fetch'], curr: 'score', next: Array<string>(20).fill('again') };
    const task = applyReports([aStep('completed', 0), aStep('received', 1, { route: longer })]);
    expect(task.progress).toMatchObject({ current: 'score', percent: 33 });
    expect(task.progress.left).toHaveLength(20);
  });

  it('end the task, and the first end counts', () => {
    const ended = applyReports([aStep('processing', 2), anEndOf('succeeded')]);
    expect(ended).toMatchObject({
      state: 'succeeded',
      reason: 'Completed',
      archiveKey: 'succeeded/t-1.json',
      progress: { done: ['fetch', 'score', 'store'], left: [], percent: 100 },
    });
    expect(applyReports([anEndOf('failed'), aStep('processing', 2)], ended)).toBe(ended);
    expect(cancelTask(ended, NOW)).toBe(ended);
    expect(expireTask(ended, NOW)).toBe(ended);
  });

  it('contain why and where it failed', () => {
    expect(applyReports([aStep('processing', 1), anEndOf('failed', { actor: 'score' })])).toMatchObject({
      state: 'failed',
      reason: 'RuntimeError',
      error: { type: 'ValueError', message: 'no' },
      progress: { done: ['fetch'], current: 'score', left: ['store'] },
    });
  });

  it('are stored with a truncated error', () => {
    const error = { type: 't'.repeat(9_999), message: 'm'.repeat(9_999) };
    const task = applyReports([anEndOf('failed', { error, reason: 'r'.repeat(9_999) })]);
    expect([task.error?.type.length, task.error?.message.length, task.reason?.length]).toEqual([
      256, 1024, 256,
    ]);
  });
});

describe('a fan-out', () => {
  const child = { envelope_id: 'c-1' };

  it('has children with their own states', () => {
    const task = applyReports([aStep('received', 1, child), anEndOf('failed', child)]);
    expect(task).toMatchObject({ state: 'running', children: { 'c-1': { state: 'failed' } } });
    expect(task.events.at(-1)).toMatchObject({ type: 'ended', child: 'c-1', state: 'running' });
  });

  it('has children with final states', () => {
    const task = applyReports([anEndOf('failed', child)]);
    expect(applyReport(task, anEndOf('succeeded', child), NOW)).toBe(task);
    expect(applyReport(task, aStep('processing', 9, child), NOW)).toBe(task);
  });

  it('ends its task with the root, and children can still end later', () => {
    const task = applyReports([aStep('processing', 1, child), anEndOf('succeeded')]);
    const later = applyReports(
      [anEndOf('failed', child), aStep('received', 1, { envelope_id: 'c-2' })],
      task,
    );
    expect(later).toEqual({ ...task, children: later.children, version: task.version + 2 });
    expect(later.children).toMatchObject({
      'c-1': { state: 'failed', reason: 'RuntimeError' },
      'c-2': { state: 'running' },
    });
    expect(applyReport(later, anEndOf('succeeded', child), NOW)).toBe(later);
  });

  it('counts unlisted children after the end of the root, too', () => {
    const many = Array.from({ length: MAX_CHILDREN }, (_, nth) =>
      anEndOf('succeeded', { envelope_id: `c-${nth}` }),
    );
    const task = applyReports([...many, anEndOf('succeeded')]);
    expect(applyReports([anEndOf('failed', { envelope_id: 'one more' })], task)).toEqual({
      ...task,
      unlisted: 1,
      version: task.version + 1,
    });
  });

  it('lists some of very many children and counts the others as they end', () => {
    const reports = Array.from({ length: MAX_CHILDREN + 5 }, (_, nth) =>
      anEndOf('succeeded', { envelope_id: `c-${nth}` }),
    );
    const task = applyReports([...reports, aStep('received', 1, { envelope_id: 'one more' })]);
    expect(Object.keys(task.children)).toHaveLength(MAX_CHILDREN);
    expect(task.unlisted).toBe(5);
  });

  it('may have children with unusual ids', () => {
    const task = applyReports([aStep('received', 1, { envelope_id: '__proto__' })]);
    expect(Object.keys(task.children)).toEqual(['__proto__']);
    expect(
      Object.hasOwn(applyReports([aStep('received', 1, { envelope_id: 'toString' })]).children, 'toString'),
    ).toBe(true);
  });
});

describe('a task without a reported end', () => {
  it('fails at its deadline', () => {
    expect(expireTask(aTask(), NOW + 5)).toMatchObject({
      state: 'failed',
      reason: 'Timeout',
      error: { message: 'envelope timed out' },
      updatedMs: NOW + 5,
    });
  });

  it('can be canceled', () => {
    expect(cancelTask(aTask(), NOW + 5)).toMatchObject({
      state: 'canceled',
      events: [{}, { type: 'ended' }],
    });
  });
});

describe('the events of a task', () => {
  it('are limited to the latest ones, which keep their numbers', () => {
    const reports = Array.from({ length: MAX_EVENTS + 50 }, (_, hop) => aStep('received', hop));
    const { events } = applyReports(reports);
    expect([events.length, events[0]?.seq, events.at(-1)?.seq]).toEqual([MAX_EVENTS, 52, MAX_EVENTS + 51]);
  });

  it('are in ascending order of time', () => {
    expect(applyReport(aTask(), aStep('received', 0), NOW - 99).updatedMs).toBe(NOW);
  });
});
