import type { Task } from '../core/task/task.ts';
import type { Refusal, Reply } from './reply.ts';

/** Tasks by id, for any number of writers at once: who writes says which version was read. */
export interface TaskStore {
  /** Refused where one with this id is there. */
  create(task: Task): Promise<Reply>;
  /** As it stands now, whoever wrote it last. Undefined: there is none. */
  get(id: string): Promise<{ readonly ok: true; readonly task: Task | undefined } | Refusal>;
  /**
   * Reads, changes and writes; where somebody else wrote meanwhile, all of it again. A change that gives back the very
   * task that it was given writes nothing. The answer is the task as it stands afterwards.
   */
  update(
    id: string,
    change: (task: Task) => Task,
  ): Promise<{ readonly ok: true; readonly task: Task | undefined } | Refusal>;
  /**
   * Of one owner, newest first. The cursor is the store's own, and comes back as a page's `next`; undefined where it is
   * none that the store has given out.
   */
  list(owner: string, cursor?: string): Promise<TaskList | Refusal | undefined>;
  /** The first to claim a key has it, until it is released or old. */
  claimKey(key: string, claim: KeyClaim): Promise<KeyReply | Refusal>;
  /** What it was claimed for is on its way: from now on nobody has to begin it again. */
  confirmKey(key: string, taskId: string): Promise<Reply>;
  /** Lets it go where it is still claimed for this task: somebody else may have claimed it meanwhile. */
  releaseKey(key: string, taskId: string): Promise<Reply>;
}

interface TaskList {
  readonly ok: true;
  readonly tasks: readonly Task[];
  /** Undefined: it was the last page. */
  readonly next?: string;
}

/** What an idempotency key stands for. */
export interface KeyClaim {
  readonly taskId: string;
  /** Of what was asked for: the same key for something else is a mistake. */
  readonly digest: string;
  readonly atMs: number;
  /** Absent where whoever claimed it has not sent the envelope yet, or crashed before. */
  readonly isSent?: boolean;
}

interface KeyReply {
  readonly ok: true;
  readonly isFirst: boolean;
  /** The first one's. */
  readonly claim: KeyClaim;
}
