/** Files, and the paths that each of them imports. A path may name a file that does not exist yet. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** These paths and everything that they import, directly or through other files. */
export function reachable(entries: readonly string[], graph: ImportGraph): ReadonlySet<string> {
  const found = new Set(entries);
  // The loop also visits the paths that are added to the set while it runs.
  for (const path of found) for (const imported of graph.get(path) ?? []) found.add(imported);
  return found;
}
