import type { JsonText } from '../text/json-text.ts';

/** Only forward: pending, running, perhaps paused and running again, then one of the three that are final. */
export type TaskState = 'pending' | 'running' | 'paused' | 'succeeded' | 'failed' | 'canceled';

/** A request as the gateway knows it: one envelope, the root, and whatever it fans out into. */
export interface Task {
  readonly id: string;
  readonly flow: string;
  /** Who made it: nobody else sees it. */
  readonly owner: string;
  readonly state: TaskState;
  readonly reason?: string;
  readonly error?: TaskError;
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly deadlineMs?: number;
  readonly progress: TaskProgress;
  /** Of a fan-out, by envelope id; the root is not among them. */
  readonly children: Readonly<Record<string, TaskChild>>;
  /** Children beyond those that are listed, counted as they end. */
  readonly unlisted?: number;
  /** How far along its route the root is known to be: what comes late and lies behind changes nothing. */
  readonly mark?: TaskMark;
  /** Where the root's whole envelope is kept, once it has ended. */
  readonly archiveKey?: string;
  /** What happened, oldest first; the oldest may be gone. */
  readonly events: readonly TaskEvent[];
  /** One up with every change: who writes says which one was read. */
  readonly version: number;
}

export interface TaskError {
  readonly type: string;
  readonly message: string;
}

/** Along the route, as far as it is known: a handler may rewrite what lies ahead. */
export interface TaskProgress {
  readonly done: readonly string[];
  readonly current?: string;
  readonly left: readonly string[];
  /** 0 to 100. */
  readonly percent: number;
}

export interface TaskChild {
  readonly state: TaskState;
  readonly actor: string;
  readonly reason?: string;
  readonly mark?: TaskMark;
  /** When its end was last looked for in the archive, in vain. */
  readonly lookedMs?: number;
}

/** A point on an envelope's way: actors passed, attempt at this one, and how far that attempt is. */
export type TaskMark = readonly [hop: number, attempt: number, stage: number];

/** One step of a task's story, numbered from 1: what a subscriber is told. */
export interface TaskEvent {
  readonly seq: number;
  readonly atMs: number;
  readonly type: 'created' | 'received' | 'processing' | 'completed' | 'ended';
  readonly state: TaskState;
  readonly actor?: string;
  /** Set for a child of a fan-out. */
  readonly child?: string;
  readonly reason?: string;
  readonly error?: TaskError;
  readonly progress: TaskProgress;
}

export function isFinal(state: TaskState): boolean {
  return state === 'succeeded' || state === 'failed' || state === 'canceled';
}

/** What a finished task came to. */
export interface TaskResult {
  readonly task: Task;
  /** Undefined where the archive does not hold it (yet). */
  readonly payload?: JsonText;
}
