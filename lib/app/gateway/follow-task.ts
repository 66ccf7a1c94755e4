import type { TaskEvent } from '../../core/task/task.ts';
import type { Caller, Gateway } from './gateway.ts';

/**
 * Yields the events of a task after `afterSeq` until the task has ended or the signal is aborted. Read the task
 * afterwards to see which of the two happened. Yields nothing if the caller has no such task.
 */
export async function* followTask(
  gateway: Gateway,
  caller: Caller,
  taskId: string,
  afterSeq: number | undefined,
  signal: AbortSignal,
): AsyncGenerator<TaskEvent, void, undefined> {
  try {
    const events = await gateway.events(caller, taskId, afterSeq, signal);
    if (events !== undefined) yield* events;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
