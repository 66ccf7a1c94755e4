import type { JsonText } from './json-text.ts';

const LONGEST_SHOWN = 60;

/** A value as a complaint shows it: short enough for one line. */
export function shown(text: JsonText | string): string {
  return text.length <= LONGEST_SHOWN ? text : `${text.slice(0, LONGEST_SHOWN)}...`;
}

/** Any value, as JSON. */
export function shownValue(value: unknown): string {
  return shown(JSON.stringify(value) ?? String(value));
}
