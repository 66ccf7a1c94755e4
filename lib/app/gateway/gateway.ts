import type { Flow } from '../../core/task/flow.ts';
import type { Report } from '../../core/task/report.ts';
import type { Task, TaskEvent, TaskResult } from '../../core/task/task.ts';
import type { JsonText } from '../../core/text/json-text.ts';
import type { SweepTimer } from './gateway-deps.ts';
import type { Swept } from './sweep-tasks.ts';

/**
 * The gateway's use cases. The faces (HTTP, MCP, A2A) only translate their protocol to these methods.
 *
 * Every method with a `caller` is limited to that caller's flows and tasks: a task of another caller is reported as
 * `not-found`, like one that does not exist. Expected failures are returned as a {@link GatewayRefusal}; `events`
 * returns undefined instead, and `report` and `expire` document their own.
 */
export interface Gateway {
  /** Lists the flows that the caller may use. */
  flows(caller: Caller): readonly Flow[];

  /**
   * Creates a task and sends its envelope to the flow's entry actor.
   *
   * The payload is validated against `mcp.inputSchema` if the flow has one. The task is stored and its backstop timer
   * armed before the envelope is sent, so a crash in between leaves a task that times out, never one that is open
   * forever. If the envelope cannot be sent, the task ends as `failed`.
   *
   * Refusals: `not-found` (flow), `invalid` (input, or an envelope above the transport's limit), `conflict` (the
   * idempotency key was used for another request), `unavailable` (store or transport).
   */
  create(
    caller: Caller,
    flow: string,
    payload: JsonText,
    options?: CreateOptions,
  ): Promise<Created | GatewayRefusal>;

  /**
   * Returns a task. A task without a recent report, or past its deadline, is first reconciled with the archive,
   * because its last report may be lost.
   */
  task(caller: Caller, id: string): Promise<{ readonly ok: true; readonly task: Task } | GatewayRefusal>;

  /**
   * Lists the caller's tasks, newest first, one page at a time.
   *
   * @param cursor `next` of the previous page; undefined for the first page. An unknown cursor is `invalid`.
   */
  tasks(caller: Caller, cursor?: string): Promise<TaskPage | GatewayRefusal>;

  /**
   * Cancels a task. Sidecars learn about it from the answer to their next report, about whichever task. Canceling a
   * canceled task succeeds; a task that has succeeded or failed is a `conflict`.
   */
  cancel(caller: Caller, id: string): Promise<{ readonly ok: true; readonly task: Task } | GatewayRefusal>;

  /**
   * Returns a task like `task`, with the payload it ended with once it has ended. The payload is missing as long as the
   * archive does not have the envelope.
   */
  result(
    caller: Caller,
    id: string,
  ): Promise<{ readonly ok: true; readonly result: TaskResult } | GatewayRefusal>;

  /**
   * Waits until the task has ended, `withinMs` has passed or the signal is aborted, and returns the task in its current
   * state. The caller checks the state to see which of these happened.
   */
  waitUntilEnded(
    caller: Caller,
    id: string,
    withinMs: number,
    signal?: AbortSignal,
  ): Promise<{ readonly ok: true; readonly task: Task } | GatewayRefusal>;

  /**
   * Streams the events of a task until it has ended or the signal is aborted. Undefined if the caller has no such task.
   *
   * @param afterSeq the last event number the subscriber knows; the stream starts with the next one. If it is undefined
   *   or unknown, the stream starts with the latest event, which contains the current state.
   */
  events(
    caller: Caller,
    id: string,
    afterSeq: number | undefined,
    signal: AbortSignal,
  ): Promise<AsyncIterable<TaskEvent> | undefined>;

  /**
   * Applies reports of sidecars and crew to their tasks. Late and duplicate reports change nothing. Without reports it
   * only returns which tasks are canceled.
   *
   * @returns the canceled ones of these tasks and those that were canceled recently, and `problem` if at least one report could not be stored: the sender
   *   should send them again.
   */
  report(
    reports: readonly Report[],
  ): Promise<{ readonly canceled: readonly string[]; readonly problem?: string }>;

  /**
   * Called when a task's backstop timer fires. Ends an open task: with the end that the archive has, or as `failed`,
   * `envelope timed out`. Rejects if the store does not answer; the timer must then fire again.
   */
  expire(taskId: string): Promise<void>;

  /**
   * Called when a timer fires that several tasks share. Expires those of them that are overdue, up to a limit. Rejects
   * if the store does not answer; the timer must then fire again.
   */
  sweep(timer: SweepTimer): Promise<Swept>;
}

/** An authenticated caller. */
export interface Caller {
  /** Owner of the tasks that this caller creates. */
  readonly id: string;
  /** The flows this caller may use. Default: all. */
  readonly flows?: readonly string[];
}

export interface CreateOptions {
  /** A second request of the same caller with the same key returns the task of the first one. */
  readonly idempotencyKey?: string;
  /** W3C trace context, copied to the envelope's headers. An invalid value is ignored. */
  readonly traceparent?: string;
}

export interface Created {
  readonly ok: true;
  readonly task: Task;
  /** False if an earlier request with the same idempotency key created it. */
  readonly isNew: boolean;
}

interface TaskPage {
  readonly ok: true;
  readonly tasks: readonly Task[];
  /** Cursor of the next page. Absent on the last page. */
  readonly next?: string;
}

export interface GatewayRefusal {
  readonly ok: false;
  readonly kind: 'not-found' | 'invalid' | 'conflict' | 'unavailable';
  /** Message for people. It never repeats input. */
  readonly detail: string;
  /** Every error found in the input, with its location. */
  readonly errors?: readonly { readonly place: string; readonly problem: string }[];
}
