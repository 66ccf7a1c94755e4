import type { HandlerProgress } from '../envelope/handler-progress.ts';
import type { JsonText } from '../text/json-text.ts';

/** A task goes from pending to running, may be paused and resumed, and ends in one of the three final states. */
export type TaskState = 'pending' | 'running' | 'paused' | 'succeeded' | 'failed' | 'canceled';

/** One call of a flow at the gateway: one envelope (the root) and its fan-out children. */
export interface Task {
  readonly id: string;
  readonly flow: string;
  /** The caller that created the task. Other callers cannot see it. */
  readonly owner: string;
  readonly state: TaskState;
  readonly reason?: string;
  readonly error?: TaskError;
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly deadlineMs?: number;
  readonly progress: TaskProgress;
  /** The fan-out children by envelope id. The root is not one of them. */
  readonly children: Readonly<Record<string, TaskChild>>;
  /** The number of ended children that are not listed because there are too many. */
  readonly unlisted?: number;
  /** The furthest known position of the root on its route. Late reports about earlier positions change nothing. */
  readonly mark?: TaskMark;
  /** The key of the root's whole envelope in the archive, once it has ended. */
  readonly archiveKey?: string;
  /** What happened, oldest first. The oldest events may have been removed. */
  readonly events: readonly TaskEvent[];
  /** Incremented with every change, for optimistic locking. */
  readonly version: number;
}

export interface TaskError {
  readonly type: string;
  readonly message: string;
}

/** The progress along the route as far as it is known. A handler may rewrite the rest of the route. */
export interface TaskProgress {
  readonly done: readonly string[];
  readonly current?: string;
  readonly left: readonly string[];
  /** 0 to 100: actors passed, and the part of the current actor that its handler reported. */
  readonly percent: number;
}

export interface TaskChild {
  readonly state: TaskState;
  readonly actor: string;
  readonly reason?: string;
  readonly mark?: TaskMark;
  /** When its end was last looked up in the archive without being found. */
  readonly lookedMs?: number;
}

/**
 * A position on an envelope's route: actors passed, attempt at the current actor, stage of that attempt, and the order
 * of the handler's latest progress.
 */
export type TaskMark = readonly [hop: number, attempt: number, stage: number, order?: number];

/** One event of a task's stream. `seq` starts at 1, and increases with gaps: an event may be replaced by a later one. */
export interface TaskEvent extends HandlerProgress {
  readonly seq: number;
  readonly atMs: number;
  readonly type: 'created' | 'received' | 'processing' | 'progress' | 'completed' | 'ended';
  readonly state: TaskState;
  readonly actor?: string;
  /** The child's envelope id, if the event is about a fan-out child. */
  readonly child?: string;
  readonly reason?: string;
  readonly error?: TaskError;
  /** How far the task is. `percent`, `message` and `data` of the event itself are the handler's own, in `progress` events. */
  readonly progress: TaskProgress;
}

export function isFinal(state: TaskState): boolean {
  return state === 'succeeded' || state === 'failed' || state === 'canceled';
}

/** What a handler of the task, or of one of its children, reported last. */
export function latestProgress({ events }: Task): TaskEvent | undefined {
  return events.findLast(({ type }) => type === 'progress');
}

/** The result of a finished task. */
export interface TaskResult {
  readonly task: Task;
  /** Undefined if it is not in the archive (yet). */
  readonly payload?: JsonText;
}
