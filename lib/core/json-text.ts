/**
 * JSON as text: checked once, cut into pieces, never parsed more than needed.
 *
 * A payload is only passed on, so its text is kept and spliced into the next envelope: 64-bit integers,
 * duplicate keys and white space arrive as they left, and nothing is paid for what nobody reads. The walk
 * keeps its own stack, so that no nesting depth can exhaust the engine's.
 */

declare const checked: unique symbol;

/** The text of one JSON value, without white space around it. */
export type JsonText = string & { readonly [checked]: true };

export type Json =
  | { readonly kind: 'object'; readonly text: JsonText; readonly members: ReadonlyMap<string, JsonText> }
  | { readonly kind: 'array'; readonly text: JsonText; readonly items: readonly JsonText[] }
  | { readonly kind: 'scalar'; readonly text: JsonText };

export type JsonReading = Json | { readonly kind: 'broken'; readonly at: number };

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Reads the outermost level of one JSON document; what lies deeper is checked and left as text. */
export function readJson(source: string): JsonReading {
  const start = skipSpace(source, 0);
  const opener = source.charCodeAt(start);
  if (opener === OPEN_OBJECT) return readObject(source, start);
  if (opener === OPEN_ARRAY) return readArray(source, start);
  const end = skipValue(source, start);
  if (end < 0) return { kind: 'broken', at: ~end };
  return closed(source, end) ?? { kind: 'scalar', text: source.slice(start, end) as JsonText };
}

function readObject(source: string, start: number): JsonReading {
  const members = new Map<string, JsonText>();
  let position = skipSpace(source, start + 1);
  if (source.charCodeAt(position) !== CLOSE_OBJECT) {
    for (;;) {
      const valueStart = skipKey(source, position);
      if (valueStart < 0) return { kind: 'broken', at: ~valueStart };
      const valueEnd = skipValue(source, valueStart);
      if (valueEnd < 0) return { kind: 'broken', at: ~valueEnd };
      members.set(keyAt(source, position), source.slice(valueStart, valueEnd) as JsonText);
      position = skipSpace(source, valueEnd);
      if (source.charCodeAt(position) !== COMMA) break;
      position = skipSpace(source, position + 1);
    }
    if (source.charCodeAt(position) !== CLOSE_OBJECT) return { kind: 'broken', at: position };
  }
  const text = source.slice(start, position + 1) as JsonText;
  return closed(source, position + 1) ?? { kind: 'object', text, members };
}

function readArray(source: string, start: number): JsonReading {
  const items: JsonText[] = [];
  let position = skipSpace(source, start + 1);
  if (source.charCodeAt(position) !== CLOSE_ARRAY) {
    for (;;) {
      const end = skipValue(source, position);
      if (end < 0) return { kind: 'broken', at: ~end };
      items.push(source.slice(position, end) as JsonText);
      position = skipSpace(source, end);
      if (source.charCodeAt(position) !== COMMA) break;
      position = skipSpace(source, position + 1);
    }
    if (source.charCodeAt(position) !== CLOSE_ARRAY) return { kind: 'broken', at: position };
  }
  const text = source.slice(start, position + 1) as JsonText;
  return closed(source, position + 1) ?? { kind: 'array', text, items };
}

/** A complaint where anything but white space follows. */
function closed(source: string, end: number): JsonReading | undefined {
  const rest = skipSpace(source, end);
  return rest === source.length ? undefined : { kind: 'broken', at: rest };
}

export function jsonText(value: string | number | boolean | null): JsonText {
  return JSON.stringify(value) as JsonText;
}

/** The string that a JSON text holds; undefined where it holds something else. */
export function stringFromJson(text: JsonText | undefined): string | undefined {
  if (text === undefined || text.charCodeAt(0) !== QUOTE) return undefined;
  return JSON.parse(text);
}

/** The whole value, where it is nested no deeper than so many levels: what is parsed can then be written again. */
export function shallowValueFromJson(
  text: JsonText,
  deepest: number,
): { readonly value: unknown } | undefined {
  return skipValue(text, 0, deepest) < 0 ? undefined : { value: JSON.parse(text) };
}

export function textFromMembers(members: ReadonlyMap<string, JsonText>): JsonText {
  let text = '';
  for (const [key, value] of members) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${value}`;
  return `{${text}}` as JsonText;
}

/** A complaint's words for a place in broken JSON: what stands there, and where that is. */
export function describeBreak(source: string, at: number): string {
  const found =
    at >= source.length ? 'the text ends' : `unexpected ${JSON.stringify(characterAt(source, at))}`;
  const line = source.slice(0, at).split('\n').length;
  const column = at - source.lastIndexOf('\n', at - 1);
  return `${found} at line ${line}, column ${column}`;
}

function characterAt(source: string, at: number): string {
  return String.fromCodePoint(source.codePointAt(at) ?? 0);
}

function keyAt(source: string, start: number): string {
  const key = source.slice(start, skipString(source, start));
  return key.includes('\\') ? JSON.parse(key) : key.slice(1, -1);
}

// Each skip returns the position after what it skipped, or the complement (~) of the place where it broke.

/** One value and everything in it. */
function skipValue(source: string, start: number, deepest = Number.POSITIVE_INFINITY): number {
  const open: number[] = [];
  let position = start;
  for (;;) {
    const first = source.charCodeAt(position);
    if (first === QUOTE) {
      position = skipString(source, position);
    } else if (first === OPEN_OBJECT || first === OPEN_ARRAY) {
      const closer = first + 2;
      const inside = skipSpace(source, position + 1);
      if (source.charCodeAt(inside) === closer) {
        position = inside + 1;
      } else {
        if (open.length >= deepest) return ~position;
        open.push(closer);
        position = first === OPEN_OBJECT ? skipKey(source, inside) : inside;
        if (position < 0) return position;
        continue;
      }
    } else if (first === MINUS || isDigit(first)) {
      position = skipNumber(source, position);
    } else {
      position = skipWord(source, position);
    }
    if (position < 0) return position;
    position = skipClosers(source, position, open);
    if (position < 0 || open.length === 0) return position;
  }
}

/** After a value: leaves every container that ends here, and stands before the next value of the one that does not. */
function skipClosers(source: string, start: number, open: number[]): number {
  let position = start;
  while (open.length > 0) {
    const closer = open[open.length - 1];
    position = skipSpace(source, position);
    const next = source.charCodeAt(position);
    if (next === COMMA) {
      position = skipSpace(source, position + 1);
      return closer === CLOSE_OBJECT ? skipKey(source, position) : position;
    }
    if (next !== closer) return ~position;
    open.pop();
    position++;
  }
  return position;
}

/** A member's key and the colon; stands before the value then. */
function skipKey(source: string, start: number): number {
  if (source.charCodeAt(start) !== QUOTE) return ~start;
  const end = skipString(source, start);
  if (end < 0) return end;
  const colon = skipSpace(source, end);
  return source.charCodeAt(colon) === COLON ? skipSpace(source, colon + 1) : ~colon;
}

function skipSpace(source: string, start: number): number {
  let position = start;
  for (;;) {
    const unit = source.charCodeAt(position);
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return position;
    position++;
  }
}

function skipString(source: string, start: number): number {
  let position = start + 1;
  while (position < source.length) {
    const unit = source.charCodeAt(position);
    if (unit === QUOTE) return position + 1;
    if (unit < 0x20) return ~position;
    if (unit === BACKSLASH) {
      position = skipEscape(source, position);
      if (position < 0) return position;
    } else {
      position++;
    }
  }
  return ~position;
}

const SHORT_ESCAPES = '"\\/bfnrt';

function skipEscape(source: string, start: number): number {
  const letter = source.charAt(start + 1);
  if (letter !== '' && SHORT_ESCAPES.includes(letter)) return start + 2;
  if (letter !== 'u') return ~(start + 1);
  for (let position = start + 2; position < start + 6; position++) {
    if (!isHexDigit(source.charCodeAt(position))) return ~position;
  }
  return start + 6;
}

function skipNumber(source: string, start: number): number {
  let position = source.charCodeAt(start) === MINUS ? start + 1 : start;
  if (source.charCodeAt(position) === ZERO) {
    position++;
  } else {
    position = skipDigits(source, position);
    if (position < 0) return position;
  }
  if (source.charCodeAt(position) === POINT) {
    position = skipDigits(source, position + 1);
    if (position < 0) return position;
  }
  const exponent = source.charAt(position);
  if (exponent !== 'e' && exponent !== 'E') return position;
  const sign = source.charAt(position + 1);
  return skipDigits(source, sign === '+' || sign === '-' ? position + 2 : position + 1);
}

/** At least one digit. */
function skipDigits(source: string, start: number): number {
  let position = start;
  while (isDigit(source.charCodeAt(position))) position++;
  return position > start ? position : ~position;
}

function skipWord(source: string, start: number): number {
  for (const word of ['true', 'false', 'null']) {
    if (source.startsWith(word, start)) return start + word.length;
  }
  return ~start;
}

function isDigit(unit: number): boolean {
  return unit >= ZERO && unit <= NINE;
}

function isHexDigit(unit: number): boolean {
  return isDigit(unit) || (unit >= 0x41 && unit <= 0x46) || (unit >= 0x61 && unit <= 0x66);
}
