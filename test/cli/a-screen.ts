/** A terminal's screen, as far as `asya dev` moves about on it. */
export interface Screen {
  write(text: string): void;
  size(): { readonly columns: number; readonly rows: number };
  /** Lines that are there break anew, as in a terminal whose window is pulled. */
  resize(columns: number, rows: number): void;
  /** What is seen, from top to bottom. */
  shown(): readonly string[];
  /** What has left it at the top. */
  gone(): readonly string[];
}

const WIDE = /\p{Script=Han}|\p{Emoji_Presentation}/u;

export function aScreen(columns: number, rows: number): Screen {
  let size = { columns, rows };
  let top = 0;
  let lines: string[] = [''];
  let row = 0;

  function scroll(): void {
    top = Math.max(top, row - size.rows + 1);
  }

  function put(character: string): void {
    if (widthOf(`${lines[row] ?? ''}${character}`) > size.columns) down();
    lines[row] = `${lines[row] ?? ''}${character}`;
  }

  function down(): void {
    row++;
    lines[row] ??= '';
    scroll();
  }

  function move(count: string, how: string): void {
    if (how === 'A') row = Math.max(top, row - Number(count));
    if (how === 'H') row = top;
    if (how === 'J' && count === '0') lines = lines.slice(0, row);
    if (how === 'J' && count === '2') lines = lines.slice(0, top);
    for (let at = 0; at <= row; at++) lines[at] ??= '';
  }

  return {
    write: (text) => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
      for (const [part, count, how] of text.matchAll(/\x1b\[([0-9;]*)([a-zA-Z])|./gsu)) {
        if (how !== undefined) move(count ?? '', how);
        else if (part === '\n') down();
        else put(part);
      }
    },
    size: () => size,
    resize: (newColumns, newRows) => {
      const before = lines;
      size = { columns: newColumns, rows: newRows };
      lines = [''];
      row = 0;
      top = 0;
      for (const [index, line] of before.entries()) {
        if (index > 0) down();
        for (const character of line) put(character);
      }
      scroll();
    },
    shown: () => lines.slice(top).map((line) => line.trimEnd()),
    gone: () => lines.slice(0, top).map((line) => line.trimEnd()),
  };
}

function widthOf(line: string): number {
  return [...line].reduce((width, character) => width + (WIDE.test(character) ? 2 : 1), 0);
}
