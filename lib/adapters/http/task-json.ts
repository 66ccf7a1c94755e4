import type { Task, TaskEvent } from '../../core/task/task.ts';
import { defined } from '../../core/text/defined.ts';
import type { JsonText } from '../../core/text/json-text.ts';
import { timestampText } from '../../core/text/timestamp.ts';

/** A task as clients see it, without its owner and the store's internal fields. */
export function taskJson(task: Task) {
  const { id, flow, state, reason, error, createdMs, updatedMs, deadlineMs, progress, children, unlisted } =
    task;
  return {
    id,
    flow,
    state,
    ...defined({ reason, error }),
    created_at: timestampText(createdMs),
    updated_at: timestampText(updatedMs),
    ...(deadlineMs !== undefined && { deadline_at: timestampText(deadlineMs) }),
    progress,
    children: Object.fromEntries(
      Object.entries(children).map(([child, { state: its, actor, reason: why }]) => [
        child,
        { state: its, actor, ...defined({ reason: why }) },
      ]),
    ),
    ...defined({ children_unlisted: unlisted }),
    links: linksOf(id),
  };
}

/** Inserts the payload as text, so that 64-bit integers keep their digits. */
export function taskText(task: Task, payload?: JsonText): string {
  const text = JSON.stringify(taskJson(task));
  return payload === undefined || task.state !== 'succeeded'
    ? text
    : `${text.slice(0, -1)},"result":${payload}}`;
}

export function taskPath(id: string): string {
  return `/tasks/${encodeURIComponent(id)}`;
}

function linksOf(id: string) {
  return { self: taskPath(id), events: `${taskPath(id)}/events` };
}

export function eventText(task: string, event: TaskEvent): string {
  const { atMs, ...rest } = event;
  const data = JSON.stringify({ task, ...rest, at: timestampText(atMs) });
  return `id: ${event.seq}\nevent: ${event.type}\ndata: ${data}\n\n`;
}
