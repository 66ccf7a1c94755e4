import { describe, expect, it } from 'vitest';
import type { Report } from '../../../lib/core/task/report.ts';
import type { Task } from '../../../lib/core/task/task.ts';
import { applyReports } from '../../../lib/core/task/task-report.ts';
import { at, NOW } from '../a-delivery.ts';
import { anEndOf, aStep, aTask } from '../a-task.ts';

/** The report of a call that takes a while. The envelope arrived a second before it. */
function aVisit(hop: number, seconds: number, changes: object = {}): Report {
  const times = { arrived_at: at((seconds - 1) * 1_000), left_at: at((seconds - 2) * 1_000) };
  return aStep('processing', hop, { ...times, ...changes });
}

/** One request per report. */
function taskAfter(
  reports: readonly (readonly [atSeconds: number, report: Report])[],
  task: Task = aTask(),
): Task {
  return reports.reduce((one, [seconds, report]) => applyReports(one, [report], NOW + seconds * 1_000), task);
}

function eventsOf({ events }: Task): readonly (readonly unknown[])[] {
  return events.map(({ type, actor, atMs, progress }) => [
    type,
    actor,
    (atMs - NOW) / 1_000,
    progress.percent,
  ]);
}

const ALL = { prev: ['fetch', 'score', 'store'], curr: '', next: [] };

describe('a report about a visit', () => {
  it('adds the actors that were passed without a report, and the arrival', () => {
    const task = taskAfter([[10, aVisit(2, 10)]]);
    expect(eventsOf(task)).toEqual([
      ['created', undefined, 0, 0],
      ['completed', 'fetch', 8, 33],
      ['completed', 'score', 8, 66],
      ['received', 'store', 9, 66],
      ['processing', 'store', 10, 66],
    ]);
    expect(task.progress).toMatchObject({ done: ['fetch', 'score'], current: 'store', left: [] });
  });

  it('adds only what is not known yet', () => {
    const task = taskAfter([
      [2, aVisit(0, 2)],
      [10, aVisit(1, 10)],
    ]);
    expect(eventsOf(task).slice(3)).toEqual([
      ['completed', 'fetch', 8, 33],
      ['received', 'score', 9, 33],
      ['processing', 'score', 10, 33],
    ]);
    expect(taskAfter([[11, aVisit(1, 10)]], task)).toBe(task);
    expect(taskAfter([[11, aVisit(0, 2)]], task)).toBe(task);
  });

  it('about another attempt adds its arrival', () => {
    const task = taskAfter([
      [2, aVisit(0, 2)],
      [20, aVisit(0, 20, { attempt: 3 })],
    ]);
    expect(eventsOf(task).slice(3)).toEqual([
      ['received', 'fetch', 19, 0],
      ['processing', 'fetch', 20, 0],
    ]);
  });

  it('does not complete an actor that failed', () => {
    const task = taskAfter([[10, aVisit(2, 10, { is_rerouted: true })]]);
    expect(eventsOf(task).map(([type, actor]) => [type, actor])).toEqual([
      ['created', undefined],
      ['completed', 'fetch'],
      ['received', 'store'],
      ['processing', 'store'],
    ]);
  });

  it('has no times after the present, whatever the clock of the sidecar says', () => {
    const task = taskAfter([[10, aVisit(1, 9_999)]]);
    expect(eventsOf(task).map(([, , seconds]) => seconds)).toEqual([0, 10, 10, 10]);
  });

  it('of a sidecar of an earlier version adds nothing', () => {
    const task = taskAfter([[10, aStep('processing', 1)]]);
    expect(task.events.map(({ type }) => type)).toEqual(['created', 'processing']);
  });
});

describe('a report about the end', () => {
  it('adds all actors that were passed without a report', () => {
    const task = taskAfter([[5, anEndOf('succeeded', { route: ALL, at: at(4_000) })]]);
    expect(eventsOf(task)).toEqual([
      ['created', undefined, 0, 0],
      ['completed', 'fetch', 4, 33],
      ['completed', 'score', 4, 66],
      ['completed', 'store', 4, 99],
      ['ended', 'store', 5, 100],
    ]);
    expect(task.progress).toEqual({ done: ['fetch', 'score', 'store'], left: [], percent: 100 });
  });

  it('completes an actor that was reported as processing', () => {
    const task = taskAfter([
      [2, aVisit(2, 2)],
      [5, anEndOf('succeeded', { route: ALL, at: at(4_000) })],
    ]);
    expect(eventsOf(task).slice(-3)).toEqual([
      ['processing', 'store', 2, 66],
      ['completed', 'store', 4, 99],
      ['ended', 'store', 5, 100],
    ]);
  });

  it('completes the actor whose handler returned nothing', () => {
    const route = { prev: ['fetch'], curr: 'score', next: ['store'] };
    const task = taskAfter([[5, anEndOf('succeeded', { actor: 'score', hop: 1, route })]]);
    expect(eventsOf(task).map(([type, actor]) => [type, actor])).toEqual([
      ['created', undefined],
      ['completed', 'fetch'],
      ['completed', 'score'],
      ['ended', 'score'],
    ]);
  });

  it('shows where the task failed', () => {
    const route = { prev: ['fetch'], curr: 'score', next: ['store'] };
    const task = taskAfter([[5, anEndOf('failed', { actor: 'score', hop: 1, route })]]);
    expect(task).toMatchObject({
      state: 'failed',
      progress: { done: ['fetch'], current: 'score', left: ['store'], percent: 33 },
    });
    expect(task.events.map(({ type, actor }) => [type, actor]).slice(1)).toEqual([
      ['completed', 'fetch'],
      ['ended', 'score'],
    ]);
  });

  it('of a child adds nothing to the actors of the root', () => {
    const task = taskAfter([[5, anEndOf('succeeded', { envelope_id: 'c-1', route: ALL })]]);
    expect(task.events.map(({ type, child }) => [type, child])).toEqual([
      ['created', undefined],
      ['ended', 'c-1'],
    ]);
  });
});
