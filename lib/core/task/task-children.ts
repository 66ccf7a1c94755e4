import { isFinal, type Task, type TaskChild } from './task.ts';

type Entry = readonly [id: string, child: TaskChild];

/** Children whose end was not reported. The ones whose end was not looked up, or not recently, come first. */
export function openChildren({ children }: Task): readonly Entry[] {
  return Object.entries(children)
    .filter(([, { state }]) => !isFinal(state))
    .sort(([, one], [, other]) => (one.lookedMs ?? 0) - (other.lookedMs ?? 0));
}

/** Records when the ends of these children were looked up. Returns the same task if none of them is open. */
export function withLookupTime(task: Task, ids: ReadonlySet<string>, now: number): Task {
  const isAffected = ([id, { state }]: Entry) => ids.has(id) && !isFinal(state);
  const entries = Object.entries(task.children);
  if (!entries.some(isAffected)) return task;
  const children = entries.map((entry): Entry => {
    const [id, child] = entry;
    return isAffected(entry) ? [id, { ...child, lookedMs: now }] : entry;
  });
  return { ...task, children: Object.fromEntries(children), version: task.version + 1 };
}
