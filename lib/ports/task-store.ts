import type { Report } from '../core/task/report.ts';
import type { Task } from '../core/task/task.ts';
import type { Refusal, Reply } from './reply.ts';

/** Stores the gateway's tasks by id. Safe for concurrent writers. Expected failures are returned, never thrown. */
export interface TaskStore {
  /** Refused if a task with this id exists. After any other refusal, the task may be stored or not. */
  create(task: Task): Promise<Reply | (Refusal & { readonly isTaken: true })>;
  /** The latest version of the task, or undefined if it does not exist. */
  get(id: string): Promise<{ readonly ok: true; readonly task: Task | undefined } | Refusal>;
  /**
   * Reads the task, changes it and writes it. If another writer was faster, it starts over. Nothing is written if
   * `change` returns the same object. Resolves with the task after the change, or undefined if it does not exist.
   */
  update(
    id: string,
    change: (task: Task) => Task,
  ): Promise<{ readonly ok: true; readonly task: Task | undefined } | Refusal>;
  /**
   * Applies reports to a task, if possible without reading it: see `applyReports`. Resolves with the task if it had to be
   * read, for example because it has ended; undefined says nothing about it.
   * @param atMs When the reports were received.
   */
  report(
    id: string,
    reports: readonly Report[],
    atMs: number,
  ): Promise<{ readonly ok: true; readonly task: Task | undefined } | Refusal>;
  /**
   * The tasks of one owner, newest first, one page at a time. Resolves with undefined if the cursor is not valid.
   * @param cursor The previous page's `next`. Default: the first page.
   */
  list(owner: string, cursor?: string): Promise<TaskList | Refusal | undefined>;
  /**
   * The ids of open tasks of one owner whose deadline has passed at `nowMs`, at most `limit`.
   * @param created When they were created, both ends inclusive.
   */
  overdue(
    owner: string,
    created: { readonly fromMs: number; readonly toMs: number },
    nowMs: number,
    limit: number,
  ): Promise<{ readonly ok: true; readonly taskIds: readonly string[] } | Refusal>;
  /** Claims an idempotency key. The first claim of a key holds until it is released or expires. */
  claimKey(key: string, claim: KeyClaim): Promise<KeyReply | Refusal>;
  /** Records that the claimed task was sent, so that no other claim has to start it again. */
  confirmKey(key: string, taskId: string): Promise<Reply>;
  /** Releases the key if this task still holds it. Another task may have claimed it in the meantime. */
  releaseKey(key: string, taskId: string): Promise<Reply>;
}

interface TaskList {
  readonly ok: true;
  readonly tasks: readonly Task[];
  /** The cursor of the next page. Undefined on the last page. */
  readonly next?: string;
}

/** The task that an idempotency key belongs to. */
export interface KeyClaim {
  readonly taskId: string;
  /** Digest of the request. Using the same key for a different request is an error of the caller. */
  readonly digest: string;
  /** When the key was claimed, in milliseconds since 1970. */
  readonly atMs: number;
  /** Absent until the envelope was sent, and for good if the claimant crashed before. */
  readonly isSent?: boolean;
}

interface KeyReply {
  readonly ok: true;
  /** Whether this call claimed the key. */
  readonly isFirst: boolean;
  /** The claim that holds the key. */
  readonly claim: KeyClaim;
}
