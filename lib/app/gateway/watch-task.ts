import { isFinal, type Task, type TaskEvent } from '../../core/task/task.ts';
import type { Refusal } from '../../ports/reply.ts';
import type { GatewayDeps } from './gateway-deps.ts';

export type ReadTask = () => Promise<{ readonly ok: true; readonly task: Task | undefined } | Refusal>;

/** A store that does not answer for so long ends a watch: whoever watches asks again. */
const MAX_STORE_OUTAGE_MS = 30_000;

/**
 * The task as it stands, again and again while it changes, and at last when it has ended. By looking: reports may
 * reach any instance of the gateway, and all of them look into the same table.
 */
export async function* watchTask(
  look: ReadTask,
  { clock, pollMs }: GatewayDeps,
  signal: AbortSignal,
): AsyncGenerator<Task> {
  let seenVersion = 0;
  let answeredAt = clock.now();
  while (!signal.aborted) {
    const got = await look();
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

/** What happened after that number, as it happens. Without a number, the present state first. */
export async function* eventsFrom(
  tasks: AsyncIterable<Task>,
  afterSeq: number | undefined,
): AsyncGenerator<TaskEvent> {
  let seen = afterSeq;
  for await (const { events } of tasks) {
    const last = events.at(-1);
    if (last === undefined) continue;
    // A number that was never given out comes from another story: this one is told from its present state.
    const isKnown = seen !== undefined && seen <= last.seq;
    yield* isKnown ? events.filter(({ seq }) => seq > (seen ?? 0)) : [last];
    seen = last.seq;
  }
}
