import { isFinal, type Task, type TaskChild } from './task.ts';

type Entry = readonly [id: string, child: TaskChild];

/** Children whose end nobody told, those first whose end was not looked for, or not lately. */
export function openChildren({ children }: Task): readonly Entry[] {
  return Object.entries(children)
    .filter(([, { state }]) => !isFinal(state))
    .sort(([, one], [, other]) => (one.lookedMs ?? 0) - (other.lookedMs ?? 0));
}

/** The task with a note of when the ends of these were looked for; as it is where none of them is open. */
export function withLookupTime(task: Task, ids: ReadonlySet<string>, now: number): Task {
  const isMeant = ([id, { state }]: Entry) => ids.has(id) && !isFinal(state);
  const entries = Object.entries(task.children);
  if (!entries.some(isMeant)) return task;
  const children = entries.map((entry): Entry => {
    const [id, child] = entry;
    return isMeant(entry) ? [id, { ...child, lookedMs: now }] : entry;
  });
  return { ...task, children: Object.fromEntries(children), version: task.version + 1 };
}
