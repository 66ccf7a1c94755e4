import type { Flow } from '../../core/task/flow.ts';
import type { Report } from '../../core/task/report.ts';
import type { Task, TaskEvent, TaskResult } from '../../core/task/task.ts';
import type { JsonText } from '../../core/text/json-text.ts';

/** What the gateway can do, whatever face it is asked through: HTTP, MCP or A2A only translate. */
export interface Gateway {
  /** Of the flows that the caller may use. */
  flows(caller: Caller): readonly Flow[];
  create(
    caller: Caller,
    flow: string,
    payload: JsonText,
    options?: CreateOptions,
  ): Promise<Created | GatewayRefusal>;
  task(caller: Caller, id: string): Promise<{ readonly ok: true; readonly task: Task } | GatewayRefusal>;
  /** Newest first. */
  tasks(caller: Caller, cursor?: string): Promise<TaskPage | GatewayRefusal>;
  cancel(caller: Caller, id: string): Promise<{ readonly ok: true; readonly task: Task } | GatewayRefusal>;
  /** Once it has ended: with the payload it ended with. Before that, as it stands. */
  result(
    caller: Caller,
    id: string,
  ): Promise<{ readonly ok: true; readonly result: TaskResult } | GatewayRefusal>;
  /** Resolves when the task has ended, or after so long. */
  waitUntilEnded(
    caller: Caller,
    id: string,
    withinMs: number,
    signal?: AbortSignal,
  ): Promise<{ readonly ok: true; readonly task: Task } | GatewayRefusal>;
  /**
   * What happened after that number, as it happens; ends with the task. Without a number the first one is the present
   * state. Undefined: the task is not the caller's.
   */
  events(
    caller: Caller,
    id: string,
    afterSeq: number | undefined,
    signal: AbortSignal,
  ): Promise<AsyncIterable<TaskEvent> | undefined>;
  /** What sidecars and crew tell. Tells which of these tasks were canceled, and why some of it was not noted. */
  report(
    reports: readonly Report[],
  ): Promise<{ readonly canceled: readonly string[]; readonly problem?: string }>;
  /** The backstop's timer fired. Rejects where the store does not answer: then it has to fire again. */
  expire(taskId: string): Promise<void>;
}

/** Who asks, once that was proven. */
export interface Caller {
  readonly id: string;
  /** The flows it may use; undefined: all. */
  readonly flows?: readonly string[];
}

export interface CreateOptions {
  /** The same key by the same caller makes no second task. */
  readonly idempotencyKey?: string;
  readonly traceparent?: string;
}

export interface Created {
  readonly ok: true;
  readonly task: Task;
  /** False where the idempotency key had made it before. */
  readonly isNew: boolean;
}

interface TaskPage {
  readonly ok: true;
  readonly tasks: readonly Task[];
  readonly next?: string;
}

export interface GatewayRefusal {
  readonly ok: false;
  readonly kind: 'not-found' | 'invalid' | 'conflict' | 'unavailable';
  /** For people; never what came in. */
  readonly detail: string;
  /** What is wrong with the input, place by place. */
  readonly errors?: readonly { readonly place: string; readonly problem: string }[];
}
