/**
 * A value as one line of a log. JSON does not escape three characters that many readers treat as the end of a line,
 * for example Node's `readline` and Python's `splitlines`. This function escapes them.
 */
export function jsonLine(value: unknown, replacer?: (key: string, value: unknown) => unknown): string {
  return JSON.stringify(value, replacer).replace(LINE_ENDS, escapeOf);
}

const LINE_ENDS = /[\u0085\u2028\u2029]/g;

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
