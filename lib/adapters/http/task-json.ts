import { latestProgress, type Task, type TaskEvent } from '../../core/task/task.ts';
import { defined } from '../../core/text/defined.ts';
import { exactValueFromJson } from '../../core/text/exact-value.ts';
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
    progress: { ...progress, ...defined({ latest: latestJson(task) }) },
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

function latestJson(task: Task) {
  const latest = latestProgress(task);
  if (latest === undefined) return undefined;
  const { actor, child, percent, message, atMs } = latest;
  return {
    ...defined({ actor, child, percent, message }),
    ...dataJson(latest),
    at: timestampText(atMs),
  };
}

/** Numbers keep their digits. Data that is nested too deeply is left out. */
function dataJson({ data }: TaskEvent): { readonly data?: unknown } {
  const exact = data === undefined ? undefined : exactValueFromJson(data);
  return exact === undefined ? {} : { data: exact.value };
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
  const { atMs, data: _, ...rest } = event;
  const text = JSON.stringify({ task, ...rest, ...dataJson(event), at: timestampText(atMs) });
  return `id: ${event.seq}\nevent: ${event.type}\ndata: ${text}\n\n`;
}
