import { skipValue } from './json-scan.ts';
import type { JsonText } from './json-text.ts';

/** `JSON.parse` and `JSON.stringify` recurse: deeper nesting could exhaust the stack. */
const MAX_DEPTH = 500;

/** `JSON.stringify` writes the returned value as the given text. The TypeScript library does not declare it yet. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/**
 * Parses JSON text for a library that takes values and serializes them itself. A number that JavaScript would write
 * differently, such as a 64-bit integer, keeps its text. Undefined if the value is nested too deeply.
 */
export function exactValueFromJson(text: JsonText): { readonly value: unknown } | undefined {
  if (skipValue(text, 0, MAX_DEPTH) < 0) return undefined;
  return { value: JSON.parse(text, keepNumber as (key: string, value: unknown) => unknown) };
}

function keepNumber(_key: string, value: unknown, { source }: { readonly source: string }): unknown {
  return typeof value === 'number' && String(value) !== source ? rawJSON(source) : value;
}
