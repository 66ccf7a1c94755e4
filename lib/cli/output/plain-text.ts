import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

// Ids, names and messages come from users and handlers. Control characters in them could move the cursor or hide text.

/** The text on one line, without control characters, cut to at most `most` columns. */
export function oneLine(text: string, most = Number.POSITIVE_INFINITY): string {
  const line = stripVTControlCharacters(text)
    .toWellFormed()
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\p{Cf}]/gu, '')
    .trim();
  return stringWidth(line) <= most ? line : `${cutTo(line, most - 1)}…`;
}

/** The lines of a text, without control characters. */
export function plainLines(text: string): readonly string[] {
  return stripVTControlCharacters(text)
    .trimEnd()
    .split('\n')
    .map((line) => line.replaceAll('\t', '    ').replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ''));
}

/** A line that a handler printed, with its indentation and without control characters. */
export function plainLine(text: string): string {
  return plainLines(text.toWellFormed()).join(' ');
}

/** The first `most` columns of a line. Color codes take no columns, and colors are closed where the line is cut. */
export function cutTo(line: string, most: number): string {
  if (most < 1) return '';
  if (stringWidth(line) <= most) return line;
  const [head = ''] = wrapAnsi(line, most, { hard: true, wordWrap: false, trim: false }).split('\n');
  // A single character can be wider than the space for it.
  return stringWidth(head) <= most ? head : '';
}

/** All of a line, in rows of at most `most` columns, broken between words if possible, with the indent of the line. */
export function wrapTo(line: string, most: number): readonly string[] {
  const text = line.trimStart();
  const indent = line.slice(0, line.length - text.length);
  const rows = wrapAnsi(text, Math.max(1, most - indent.length), { hard: true }).split('\n');
  return rows.map((row) => indent + row);
}

/**
 * JSON that is safe to print: control characters are escaped, and it parses to the same value. The payload is inserted
 * as text, so that large numbers keep their digits.
 */
export function jsonOutput(value: Readonly<Record<string, unknown>>, payload?: string): string {
  const text = JSON.stringify(value, null, 2);
  return escaped(payload === undefined ? text : `${text.slice(0, -2)},\n  "payload": ${payload}\n}`);
}

export function jsonListOutput(items: readonly string[]): string {
  return items.length === 0 ? '[]' : `[\n${items.join(',\n').replace(/^/gm, '  ')}\n]`;
}

export function jsonLineOutput(value: unknown): string {
  return escaped(JSON.stringify(value));
}

/** Escapes control characters. In JSON they occur only inside strings, except for line breaks between tokens. */
export function escaped(json: string): string {
  return json
    .replaceAll('\r', ' ')
    .replace(/[\u007f-\u009f\p{Cf}\u2028\u2029]/gu, (character) =>
      Array.from(
        { length: character.length },
        (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
      ).join(''),
    );
}

/** Quotes text for a shell. Senders choose envelope ids, and a pasted command must not run what an id contains. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
