import { defined } from '../text/defined.ts';
import { headWithinUtf8 } from '../text/utf8.ts';
import { isFinal, type Task, type TaskError, type TaskState } from './task.ts';
import { withEvent } from './task-event.ts';
import { progressAtEnd } from './task-progress.ts';

export interface TaskEnd {
  readonly state: Extract<TaskState, 'succeeded' | 'failed' | 'canceled'>;
  readonly reason?: string;
  readonly error?: TaskError;
  readonly actor?: string;
  readonly archiveKey?: string;
}

const MAX_MESSAGE_BYTES = 1024;
const MAX_NAME_BYTES = 256;

/** Ends a task. A task that has ended already is returned unchanged: the first end counts. */
export function endTask(task: Task, end: TaskEnd, now: number): Task {
  if (isFinal(task.state)) return task;
  const { state, actor, archiveKey } = end;
  const why = {
    ...(end.reason !== undefined && { reason: headWithinUtf8(end.reason, MAX_NAME_BYTES) }),
    ...(end.error !== undefined && { error: truncateError(end.error) }),
  };
  const progress = progressAtEnd(task.progress, state);
  const ended = { ...task, ...why, state, progress, ...defined({ archiveKey }) };
  return withEvent(ended, { type: 'ended', ...defined({ actor }), ...why }, now);
}

/** Sidecars learn about a cancellation from the answers to their reports. */
export function cancelTask(task: Task, now: number): Task {
  return endTask(task, { state: 'canceled' }, now);
}

/** The deadline has passed, and no end was reported. */
export function expireTask(task: Task, now: number): Task {
  const error = { type: 'DeadlineExceeded', message: 'envelope timed out' };
  return endTask(task, { state: 'failed', reason: 'Timeout', error }, now);
}

/** The error as a task stores it. */
export function truncateError({ type, message }: TaskError): TaskError {
  return {
    type: headWithinUtf8(type, MAX_NAME_BYTES),
    message: headWithinUtf8(message, MAX_MESSAGE_BYTES),
  };
}
