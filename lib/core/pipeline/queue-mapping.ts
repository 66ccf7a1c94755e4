/** The Cloud Tasks queues for the delayed messages of topics. */
export interface QueueMapping {
  /** Queues by the name of a topic or a pattern of names, in the configured order. */
  readonly byTopic: readonly (readonly [pattern: string, queue: string])[];
  readonly defaultQueue: string;
}

/**
 * The queue for a topic: the exact name wins, then the first matching pattern, then the default. A pattern without a
 * slash matches short names of topics in the own project. A pattern with a slash matches full names in any project.
 */
export function queueForTopic(fullName: string, ownProject: string, mapping: QueueMapping): string {
  const prefix = `projects/${ownProject}/topics/`;
  const names = fullName.startsWith(prefix) ? [fullName.slice(prefix.length), fullName] : [fullName];
  const found =
    mapping.byTopic.find(([pattern]) => names.includes(pattern)) ??
    mapping.byTopic.find(([pattern]) => names.some((name) => matchesPattern(name, pattern)));
  return found?.[1] ?? mapping.defaultQueue;
}

/** `*` matches any characters, `?` matches one character. Neither matches a slash. */
function matchesPattern(name: string, pattern: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]');
  return new RegExp(`^${source}$`).test(name);
}
