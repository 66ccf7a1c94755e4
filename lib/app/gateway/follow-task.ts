import type { TaskEvent } from '../../core/task/task.ts';
import type { Caller, Gateway } from './gateway.ts';

/**
 * What happens to a task after that number, until it ends or the signal says that it was long enough: whoever asks for
 * the task afterwards knows which of the two it was. Nothing where the task is not the caller's.
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
