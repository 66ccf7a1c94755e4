/** Which queue a topic's delayed messages wait in. */
export interface QueueMapping {
  /** By a topic's name, or by a pattern of names, in the order they were written. */
  readonly byTopic: readonly (readonly [pattern: string, queue: string])[];
  readonly defaultQueue: string;
}

/**
 * The exact name first, then the first pattern that fits, then the default. A pattern without a slash is about the
 * own project's topics by their short names; one with a slash is about full names, in any project.
 */
export function queueForTopic(fullName: string, ownProject: string, mapping: QueueMapping): string {
  const prefix = `projects/${ownProject}/topics/`;
  const names = fullName.startsWith(prefix) ? [fullName.slice(prefix.length), fullName] : [fullName];
  const found =
    mapping.byTopic.find(([pattern]) => names.includes(pattern)) ??
    mapping.byTopic.find(([pattern]) => names.some((name) => matchesPattern(name, pattern)));
  return found?.[1] ?? mapping.defaultQueue;
}

/** `*` is any run of characters, `?` is one; neither is a slash. */
function matchesPattern(name: string, pattern: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]');
  return new RegExp(`^${source}$`).test(name);
}
