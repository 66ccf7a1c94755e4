import type { Route } from '../envelope/envelope.ts';
import { defined } from '../text/defined.ts';
import type { Task } from './task.ts';
import { progressOf } from './task-progress.ts';

export interface NewTask {
  /** The id of the task and of its root envelope. */
  readonly id: string;
  readonly flow: string;
  readonly owner: string;
  readonly route: Route;
  readonly now: number;
  readonly deadlineMs?: number;
}

export function createTask({ id, flow, owner, route, now, deadlineMs }: NewTask): Task {
  const progress = progressOf(route);
  return {
    id,
    flow,
    owner,
    state: 'pending',
    createdMs: now,
    updatedMs: now,
    ...defined({ deadlineMs }),
    progress,
    children: {},
    events: [{ seq: 1, atMs: now, type: 'created', state: 'pending', progress }],
    version: 1,
  };
}
