import { stripVTControlCharacters } from 'node:util';

/** Ids, names and messages come from outside: on a screen they must move nothing, and hide nothing. */

/** One line of it, without what moves the cursor or turns the direction of writing, cut to so many columns. */
export function oneLine(text: string, most = Number.POSITIVE_INFINITY): string {
  const line = stripVTControlCharacters(text)
    .toWellFormed()
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\p{Cf}]/gu, '')
    .trim();
  return widthOf(line) <= most ? line : `${headOf(line, most - 1)}…`;
}

/** As many lines as it has, each as it is but for what moves the cursor. */
export function plainLines(text: string): readonly string[] {
  return stripVTControlCharacters(text)
    .trimEnd()
    .split('\n')
    .map((line) => line.replaceAll('\t', '    ').replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ''));
}

/** Two columns wide: East Asian letters and pictures. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u;
const WITHOUT_WIDTH = /\p{M}/u;

function columnsOf(character: string): number {
  if (character < '\u0300') return 1;
  return WITHOUT_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
}

export function widthOf(line: string): number {
  let width = 0;
  for (const character of line) width += columnsOf(character);
  return width;
}

function headOf(line: string, most: number): string {
  let head = '';
  let width = 0;
  for (const character of line) {
    width += columnsOf(character);
    if (width > most) break;
    head += character;
  }
  return head;
}

/** Cut to so many columns; the colours of our own count nothing, and are all kept. */
export function cutTo(line: string, most: number): string {
  let width = 0;
  let text = '';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  for (const [part] of line.matchAll(/\x1b\[[0-9;]*m|./gsu)) {
    if (!part.startsWith('\x1b')) width += columnsOf(part);
    if (part.startsWith('\x1b') || width <= most) text += part;
  }
  return text;
}

/** All of it, in lines of so many columns, broken between words where that is possible. */
export function wrapTo(line: string, most: number): readonly string[] {
  const lines: string[] = [];
  let rest = line;
  while (widthOf(rest) > most) {
    const head = headOf(rest, most) || String.fromCodePoint(rest.codePointAt(0) ?? 0);
    const space = rest[head.length] === ' ' ? -1 : head.lastIndexOf(' ');
    const part = space > 0 ? head.slice(0, space) : head;
    lines.push(part);
    rest = rest.slice(part.length).trimStart();
  }
  return [...lines, rest];
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
