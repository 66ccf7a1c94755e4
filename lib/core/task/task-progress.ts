import type { Route } from '../envelope/envelope.ts';
import type { TaskProgress, TaskState } from './task.ts';

/** Every stored event contains the progress, so its lists are limited. Actors beyond the limit still count. */
const MAX_NAMES = 100;
/** 100 % is only reached when the end is reported. */
const MAX_PERCENT_BEFORE_END = 99;

/** @param currentPercent How far the handler of the current actor is, from 0 to 100. */
export function progressOf({ prev, curr, next }: Route, currentPercent = 0): TaskProgress {
  const all = prev.length + next.length + (curr === '' ? 0 : 1);
  const done = 100 * prev.length + (curr === '' ? 0 : currentPercent);
  const percent = all === 0 ? MAX_PERCENT_BEFORE_END : Math.floor(done / all);
  return {
    done: prev.slice(-MAX_NAMES),
    ...(curr === '' ? {} : { current: curr }),
    left: next.slice(0, MAX_NAMES),
    percent: Math.min(percent, MAX_PERCENT_BEFORE_END),
  };
}

/** The progress of a task that has ended: 100 % if it succeeded, otherwise unchanged. */
export function progressAtEnd(progress: TaskProgress, state: TaskState): TaskProgress {
  const { done, current, left } = progress;
  if (state !== 'succeeded') return progress;
  const last = current === undefined ? [] : [current];
  return { done: [...done, ...last].slice(-MAX_NAMES), left, percent: 100 };
}

/** The reported progress. A handler may make the route longer, but the percentage never decreases. */
export function furtherProgress(known: TaskProgress, reported: TaskProgress): TaskProgress {
  return reported.percent < known.percent ? { ...reported, percent: known.percent } : reported;
}
