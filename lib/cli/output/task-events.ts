import type { TaskEvent } from '../../core/task/task.ts';
import type { TaskStore } from '../../ports/task-store.ts';
import { oneLine } from './plain-text.ts';

const SHOWN = 12;

/** The story of a task as its gateway keeps it, a line each; none where no gateway knows it. */
export async function taskEventLines(task: string | undefined, tasks: TaskStore): Promise<readonly string[]> {
  if (task === undefined) return [];
  const found = await tasks.get(task);
  if (!found.ok) return [`cannot be read: ${oneLine(found.problem)}`];
  const events = found.task?.events ?? [];
  const before = events.length - SHOWN;
  return [...(before > 0 ? [`… ${before} before`] : []), ...events.slice(-SHOWN).map(eventLine)];
}

function eventLine({ atMs, type, state, actor, child, reason }: TaskEvent): string {
  const where = actor === undefined ? '' : ` at ${oneLine(actor, 63)}`;
  const whose = child === undefined ? '' : ` (child ${oneLine(child, 40)})`;
  const why = reason === undefined ? '' : `, ${oneLine(reason, 60)}`;
  return `${new Date(atMs).toISOString().slice(11, 23)} ${type}${where}: ${state}${why}${whose}`;
}
