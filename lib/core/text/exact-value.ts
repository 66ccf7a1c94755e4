import { skipValue } from './json-scan.ts';
import type { JsonText } from './json-text.ts';

/** Deeper ones can neither be parsed nor written again without a stack as deep. */
const MAX_DEPTH = 500;

/** Newer than the library's types: a value that is written as that text. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

/**
 * The value that a JSON text holds, for a library that writes values and not texts: a number that would not be written
 * as it came keeps its text. Undefined where it is nested too deep.
 */
export function exactValueFromJson(text: JsonText): { readonly value: unknown } | undefined {
  if (skipValue(text, 0, MAX_DEPTH) < 0) return undefined;
  return { value: JSON.parse(text, keepNumber as (key: string, value: unknown) => unknown) };
}

function keepNumber(_key: string, value: unknown, { source }: { readonly source: string }): unknown {
  return typeof value === 'number' && String(value) !== source ? rawJSON(source) : value;
}
