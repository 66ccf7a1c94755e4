import type { JsonText } from '../core/text/json-text.ts';
import { jsonFrom } from './json-payload.ts';

/** Parses JSON that the mesh keeps as text. */
export function valueFrom(text: JsonText): unknown {
  return JSON.parse(text);
}

export function valuesFrom(texts: ReadonlyMap<string, JsonText>): Readonly<Record<string, unknown>> {
  return Object.fromEntries([...texts].map(([name, text]) => [name, valueFrom(text)]));
}

/** Headers that a test passes in. Throws a TypeError if JSON would change one. */
export function headersFrom(values: Readonly<Record<string, unknown>>): ReadonlyMap<string, JsonText> {
  return new Map(Object.entries(values).map(([name, value]) => [name, jsonFrom(value, `headers.${name}`)]));
}
