/** The tasks that the gateway reported as canceled. */
export interface CanceledTasks {
  add(tasks: Iterable<string>): void;
  has(task: string): boolean;
}

/** Beyond that, the first ones are forgotten: their envelopes have most likely ended. */
const MAX_REMEMBERED = 1_000;

export function canceledTasks(): CanceledTasks {
  const known = new Set<string>();
  return {
    add: (tasks) => {
      for (const task of tasks) {
        // Moves it to the end, because the gateway still reports it.
        known.delete(task);
        known.add(task);
      }
      for (const task of known) {
        if (known.size <= MAX_REMEMBERED) break;
        known.delete(task);
      }
    },
    has: (task) => known.has(task),
  };
}
