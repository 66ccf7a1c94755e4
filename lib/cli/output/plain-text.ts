import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';

/** Ids, names and messages come from outside: on a screen they must move nothing, and hide nothing. */

/** One line of it, without what moves the cursor or turns the direction of writing, cut to so many columns. */
export function oneLine(text: string, most = Number.POSITIVE_INFINITY): string {
  const line = stripVTControlCharacters(text)
    .toWellFormed()
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\p{Cf}]/gu, '')
    .trim();
  return stringWidth(line) <= most ? line : `${cutTo(line, most - 1)}…`;
}

/** As many lines as it has, each as it is but for what moves the cursor. */
export function plainLines(text: string): readonly string[] {
  return stripVTControlCharacters(text)
    .trimEnd()
    .split('\n')
    .map((line) => line.replaceAll('\t', '    ').replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ''));
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
 * JSON for a screen and for scripts alike: it parses to the same, and what would move the cursor is escaped. A payload
 * goes in as it is kept, so that its numbers keep their digits.
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

/** These stand in strings only, but for line breaks between tokens. */
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

/** As it can be pasted into a shell: whoever chose an envelope's id must not choose what an operator runs. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
