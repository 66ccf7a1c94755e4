/**
 * JSON as text: validated once, split into members or items, and not parsed further than needed.
 *
 * The sidecar only forwards a payload, so it copies the payload's text into the next envelope. 64-bit integers,
 * duplicate keys and white space arrive unchanged, and values that are not read cost no time.
 */

import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  skipKey,
  skipSpace,
  skipString,
  skipValue,
} from './json-scan.ts';

declare const checked: unique symbol;

/** The text of one JSON value, without white space around it. */
export type JsonText = string & { readonly [checked]: true };

export type Json =
  | { readonly kind: 'object'; readonly text: JsonText; readonly members: ReadonlyMap<string, JsonText> }
  | { readonly kind: 'array'; readonly text: JsonText; readonly items: readonly JsonText[] }
  | { readonly kind: 'scalar'; readonly text: JsonText };

export type JsonReading = Json | { readonly kind: 'invalid'; readonly at: number };

/** Reads the outermost level of one JSON document. Deeper levels are validated and kept as text. */
export function readJson(source: string): JsonReading {
  const start = skipSpace(source, 0);
  const opener = source.charCodeAt(start);
  if (opener === OPEN_OBJECT) return readObject(source, start);
  if (opener === OPEN_ARRAY) return readArray(source, start);
  const end = skipValue(source, start);
  if (end < 0) return { kind: 'invalid', at: ~end };
  return trailingError(source, end) ?? { kind: 'scalar', text: source.slice(start, end) as JsonText };
}

/** The text if it is one JSON object, without splitting it into members. White space around it counts as something else. */
export function objectText(source: string): JsonText | undefined {
  const isObject = source.charCodeAt(0) === OPEN_OBJECT && skipValue(source, 0) === source.length;
  return isObject ? (source as JsonText) : undefined;
}

function readObject(source: string, start: number): JsonReading {
  const members = new Map<string, JsonText>();
  let position = skipSpace(source, start + 1);
  if (source.charCodeAt(position) !== CLOSE_OBJECT) {
    for (;;) {
      const valueStart = skipKey(source, position);
      if (valueStart < 0) return { kind: 'invalid', at: ~valueStart };
      const valueEnd = skipValue(source, valueStart);
      if (valueEnd < 0) return { kind: 'invalid', at: ~valueEnd };
      members.set(keyAt(source, position), source.slice(valueStart, valueEnd) as JsonText);
      position = skipSpace(source, valueEnd);
      if (source.charCodeAt(position) !== COMMA) break;
      position = skipSpace(source, position + 1);
    }
    if (source.charCodeAt(position) !== CLOSE_OBJECT) return { kind: 'invalid', at: position };
  }
  const text = source.slice(start, position + 1) as JsonText;
  return trailingError(source, position + 1) ?? { kind: 'object', text, members };
}

function readArray(source: string, start: number): JsonReading {
  const items: JsonText[] = [];
  let position = skipSpace(source, start + 1);
  if (source.charCodeAt(position) !== CLOSE_ARRAY) {
    for (;;) {
      const end = skipValue(source, position);
      if (end < 0) return { kind: 'invalid', at: ~end };
      items.push(source.slice(position, end) as JsonText);
      position = skipSpace(source, end);
      if (source.charCodeAt(position) !== COMMA) break;
      position = skipSpace(source, position + 1);
    }
    if (source.charCodeAt(position) !== CLOSE_ARRAY) return { kind: 'invalid', at: position };
  }
  const text = source.slice(start, position + 1) as JsonText;
  return trailingError(source, position + 1) ?? { kind: 'array', text, items };
}

/** An error if anything other than white space follows the value. */
function trailingError(source: string, end: number): JsonReading | undefined {
  const rest = skipSpace(source, end);
  return rest === source.length ? undefined : { kind: 'invalid', at: rest };
}

export function jsonText(value: string | number | boolean | null): JsonText {
  return JSON.stringify(value) as JsonText;
}

/** The value of a JSON string; undefined for any other kind of value. */
export function stringFromJson(text: JsonText | undefined): string | undefined {
  return text === undefined || text.charCodeAt(0) !== QUOTE ? undefined : unquote(text);
}

/** The content of a JSON string. Only a string with escapes needs a parser. */
function unquote(text: string): string {
  return text.includes('\\') ? JSON.parse(text) : text.slice(1, -1);
}

/** The parsed value; undefined if it is nested deeper than `maxDepth` levels, because writing it again could fail. */
export function shallowValueFromJson(
  text: JsonText,
  maxDepth: number,
): { readonly value: unknown } | undefined {
  const cannotBeDeeper = text.length <= 2 * maxDepth;
  return cannotBeDeeper || skipValue(text, 0, maxDepth) >= 0 ? { value: JSON.parse(text) } : undefined;
}

export function textFromMembers(members: ReadonlyMap<string, JsonText>): JsonText {
  let text = '';
  for (const [key, value] of members) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${value}`;
  return `{${text}}` as JsonText;
}

/** What is wrong with invalid JSON, and where: `unexpected "}" at line 1, column 7`. */
export function describeJsonError(source: string, at: number): string {
  const found =
    at >= source.length ? 'unexpected end of text' : `unexpected ${JSON.stringify(characterAt(source, at))}`;
  const line = source.slice(0, at).split('\n').length;
  const column = at - source.lastIndexOf('\n', at - 1);
  return `${found} at line ${line}, column ${column}`;
}

function characterAt(source: string, at: number): string {
  return String.fromCodePoint(source.codePointAt(at) ?? 0);
}

function keyAt(source: string, start: number): string {
  return unquote(source.slice(start, skipString(source, start)));
}
