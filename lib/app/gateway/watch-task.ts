import { isFinal, type Task, type TaskEvent } from '../../core/task/task.ts';
import type { Refusal } from '../../ports/reply.ts';
import type { GatewayDeps } from './gateway-deps.ts';

export type ReadTask = () => Promise<{ readonly ok: true; readonly task: Task | undefined } | Refusal>;

/** A watch ends after the store has been unavailable for this long. The subscriber can reconnect. */
const MAX_STORE_OUTAGE_MS = 30_000;

/**
 * Yields the task now and after each change, until it has ended. It polls the store, because reports may reach any
 * instance of the gateway.
 */
export async function* watchTask(
  readTask: ReadTask,
  { clock, pollMs }: GatewayDeps,
  signal: AbortSignal,
): AsyncGenerator<Task> {
  let seenVersion = 0;
  let answeredAt = clock.now();
  while (!signal.aborted) {
    const got = await readTask();
    if (got.ok) {
      const { task } = got;
      if (task === undefined) return;
      answeredAt = clock.now();
      if (task.version !== seenVersion) yield task;
      seenVersion = task.version;
      if (isFinal(task.state)) return;
    } else if (clock.now() - answeredAt >= MAX_STORE_OUTAGE_MS) return;
    await clock.sleep(pollMs, signal);
  }
}

/** Yields the events after `afterSeq`, or from the latest one if it is undefined. */
export async function* eventsFrom(
  tasks: AsyncIterable<Task>,
  afterSeq: number | undefined,
): AsyncGenerator<TaskEvent> {
  let seen = afterSeq;
  for await (const { events } of tasks) {
    const last = events.at(-1);
    if (last === undefined) continue;
    // A number above the latest one is not from this task: start with the latest event.
    const isKnown = seen !== undefined && seen <= last.seq;
    yield* isKnown ? events.filter(({ seq }) => seq > (seen ?? 0)) : [last];
    seen = last.seq;
  }
}
