import type { TaskEvent } from '../../core/task/task.ts';
import type { TaskStore } from '../../ports/task-store.ts';
import { oneLine } from './plain-text.ts';

const MAX_EVENTS = 12;

/** The events of a task as the gateway stored them, one line each. Empty if no gateway knows the task. */
export async function taskEventLines(task: string | undefined, tasks: TaskStore): Promise<readonly string[]> {
  if (task === undefined) return [];
  const found = await tasks.get(task);
  if (!found.ok) return [`cannot be read: ${oneLine(found.problem)}`];
  const events = found.task?.events ?? [];
  const earlier = events.length - MAX_EVENTS;
  return [...(earlier > 0 ? [`… ${earlier} earlier`] : []), ...events.slice(-MAX_EVENTS).map(eventLine)];
}

function eventLine({ atMs, type, state, actor, child, reason, percent, message }: TaskEvent): string {
  const where = actor === undefined ? '' : ` at ${oneLine(actor, 63)}`;
  const childText = child === undefined ? '' : ` (child ${oneLine(child, 40)})`;
  const why = reason === undefined ? '' : `, ${oneLine(reason, 60)}`;
  const percentText = percent === undefined ? '' : `, ${percent} %`;
  const text = message === undefined ? '' : `, ${oneLine(message, 100)}`;
  return `${new Date(atMs).toISOString().slice(11, 23)} ${type}${where}: ${state}${why}${percentText}${text}${childText}`;
}
