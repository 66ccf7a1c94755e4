/**
 * Validates JSON text without building values. This is the hot path: it compares char codes and leaves long strings to
 * the engine, which takes about half the time of `JSON.parse`. It keeps its own stack, so that no nesting depth can
 * exhaust the engine's.
 *
 * Each skip function returns the position after what it skipped, or the complement (~) of the position of the error.
 * Past the end of the text `charCodeAt` returns NaN. Every comparison with NaN is false, so a missing character is an
 * error. No skip function returns 0, so `< 0` and `<= 0` are equivalent. Returning an error twice keeps its position.
 */

export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const OPEN_ARRAY = 0x5b;
export const CLOSE_ARRAY = 0x5d;
export const OPEN_OBJECT = 0x7b;
export const CLOSE_OBJECT = 0x7d;
const SPACE = 0x20;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const UPPER_E = 0x45;
const LOWER_E = 0x65;
/** The difference between the char codes of a closing and an opening bracket, for both kinds. */
const TO_CLOSER = 2;

/** Skips one value. Nesting deeper than `maxDepth` levels is an error. */
export function skipValue(source: string, start: number, maxDepth = Number.POSITIVE_INFINITY): number {
  const open: number[] = [];
  let position = start;
  for (;;) {
    let unit = source.charCodeAt(position);
    if (unit === QUOTE) {
      position = skipString(source, position);
    } else if (unit === OPEN_OBJECT || unit === OPEN_ARRAY) {
      const inside = skipSpace(source, position + 1);
      if (source.charCodeAt(inside) === unit + TO_CLOSER) {
        position = inside + 1;
      } else {
        if (open.length >= maxDepth) return ~position;
        open.push(unit + TO_CLOSER);
        position = unit === OPEN_OBJECT ? skipKey(source, inside) : inside;
        if (position < 0) return position;
        continue;
      }
    } else {
      position = unit === MINUS || isDigit(unit) ? skipNumber(source, position) : skipWord(source, position);
    }
    if (position < 0) return position;

    // After a value: leave every container that ends here, then continue with the next value of the one that does not.
    for (;;) {
      if (open.length === 0) return position;
      const closer = open[open.length - 1];
      unit = source.charCodeAt(position);
      if (unit <= SPACE) {
        position = skipSpace(source, position);
        unit = source.charCodeAt(position);
      }
      if (unit === COMMA) {
        position = skipSpace(source, position + 1);
        if (closer === CLOSE_OBJECT) position = skipKey(source, position);
        if (position < 0) return position;
        break;
      }
      if (unit !== closer) return ~position;
      open.pop();
      position++;
    }
  }
}

/** Skips a member's key, the colon and the white space before the value. */
export function skipKey(source: string, start: number): number {
  if (source.charCodeAt(start) !== QUOTE) return ~start;
  const end = skipString(source, start);
  if (end < 0) return end;
  const colon = skipSpace(source, end);
  return source.charCodeAt(colon) === COLON ? skipSpace(source, colon + 1) : ~colon;
}

export function skipSpace(source: string, start: number): number {
  let position = start;
  let unit = source.charCodeAt(position);
  while (unit <= SPACE) {
    if (unit !== SPACE && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return position;
    unit = source.charCodeAt(++position);
  }
  return position;
}

/** Everything up to the next quote, backslash or control character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are not allowed in a JSON string
const PLAIN_RUN = /[^"\\\u0000-\u001f]*/y;
/** Up to this length, reading char codes is fastest. Above it, a regular expression is. */
const SHORT_STRING = 24;
/** From this length, `JSON.parse` is fastest. */
const LONG_STRING = 256;

export function skipString(source: string, start: number): number {
  let position = start + 1;
  let walkUntil = position + SHORT_STRING;
  // Tried at most once: a long string that is invalid at its end must not be parsed repeatedly.
  let mayBeLong = true;
  for (;;) {
    const unit = source.charCodeAt(position);
    if (unit === QUOTE) return position + 1;
    if (unit === BACKSLASH) {
      position = skipEscape(source, position);
      if (position < 0) return position;
      walkUntil = Math.max(walkUntil, position + SHORT_STRING);
    } else if (unit >= SPACE) {
      position++;
      if (position !== walkUntil) continue;
      const end = mayBeLong ? skipLongString(source, start) : undefined;
      if (end !== undefined) return end;
      mayBeLong = false;
      PLAIN_RUN.lastIndex = position;
      PLAIN_RUN.test(source);
      position = PLAIN_RUN.lastIndex;
    } else {
      return ~position;
    }
  }
}

/** Undefined if the string is not long, or if it is invalid: then the caller's loop finds the position of the error. */
function skipLongString(source: string, start: number): number | undefined {
  let quote = source.indexOf('"', start + 1);
  while (quote >= 0 && isEscaped(source, quote)) quote = source.indexOf('"', quote + 1);
  if (quote - start < LONG_STRING) return undefined;
  try {
    JSON.parse(source.slice(start, quote + 1));
    return quote + 1;
  } catch {
    return undefined;
  }
}

function isEscaped(source: string, at: number): boolean {
  let backslashes = 0;
  while (source.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++;
  return backslashes % 2 === 1;
}

function skipEscape(source: string, start: number): number {
  switch (source.charCodeAt(start + 1)) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f: // slash
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return start + 2;
    case 0x75: // u
      for (let position = start + 2; position < start + 6; position++) {
        if (!isHexDigit(source.charCodeAt(position))) return ~position;
      }
      return start + 6;
    default:
      return ~(start + 1);
  }
}

function skipNumber(source: string, start: number): number {
  let position = source.charCodeAt(start) === MINUS ? start + 1 : start;
  position = source.charCodeAt(position) === ZERO ? position + 1 : skipDigits(source, position);
  if (position < 0) return position;
  if (source.charCodeAt(position) === POINT) position = skipDigits(source, position + 1);
  if (position < 0) return position;
  const exponent = source.charCodeAt(position);
  if (exponent !== LOWER_E && exponent !== UPPER_E) return position;
  const sign = source.charCodeAt(position + 1);
  return skipDigits(source, sign === PLUS || sign === MINUS ? position + 2 : position + 1);
}

/** Skips one digit or more. */
function skipDigits(source: string, start: number): number {
  let position = start;
  while (isDigit(source.charCodeAt(position))) position++;
  return position > start ? position : ~position;
}

function skipWord(source: string, start: number): number {
  if (source.startsWith('true', start) || source.startsWith('null', start)) return start + 4;
  return source.startsWith('false', start) ? start + 5 : ~start;
}

function isDigit(unit: number): boolean {
  return unit >= ZERO && unit <= NINE;
}

function isHexDigit(unit: number): boolean {
  return isDigit(unit) || (unit >= 0x41 && unit <= 0x46) || (unit >= 0x61 && unit <= 0x66);
}
