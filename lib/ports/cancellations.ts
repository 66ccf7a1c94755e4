import type { Reply } from './reply.ts';

/**
 * The tasks that were canceled recently, for sidecars: they learn of a cancellation without a report about its task. Best
 * effort: a task may be missing, for example if very many were canceled at the same time.
 */
export interface Cancellations {
  add(taskId: string): Promise<Reply>;
  /** The tasks of the last minutes, as they were a second or two ago. Empty if they cannot be read. */
  recent(): Promise<readonly string[]>;
}
