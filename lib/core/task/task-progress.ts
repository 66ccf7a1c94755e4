import type { Route } from '../envelope/envelope.ts';
import type { TaskProgress, TaskState } from './task.ts';

/** A task is kept with every event's progress in it: what lies beyond is left out of the lists, and counted all the same. */
const MAX_NAMES = 100;
/** Not before the end is told. */
const MAX_PERCENT_BEFORE_END = 99;

export function progressOf({ prev, curr, next }: Route): TaskProgress {
  const all = prev.length + next.length + (curr === '' ? 0 : 1);
  const percent = all === 0 ? MAX_PERCENT_BEFORE_END : Math.floor((100 * prev.length) / all);
  return {
    done: prev.slice(-MAX_NAMES),
    ...(curr === '' ? {} : { current: curr }),
    left: next.slice(0, MAX_NAMES),
    percent: Math.min(percent, MAX_PERCENT_BEFORE_END),
  };
}

/** Nothing is at work any more: what succeeded is done, and what did not stays where it was. */
export function progressAtEnd(progress: TaskProgress, state: TaskState): TaskProgress {
  const { done, current, left } = progress;
  if (state !== 'succeeded') return progress;
  const last = current === undefined ? [] : [current];
  return { done: [...done, ...last].slice(-MAX_NAMES), left, percent: 100 };
}

/** A route may get longer on the way: what was told is never taken back. */
export function furtherProgress(known: TaskProgress, told: TaskProgress): TaskProgress {
  return told.percent < known.percent ? { ...told, percent: known.percent } : told;
}
