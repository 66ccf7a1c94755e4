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
  /** A wide letter has an empty cell after it. */
  let lines: string[][] = [[]];
  let top = 0;
  let row = 0;
  let column = 0;

  function put(character: string): void {
    const cells = WIDE.test(character) ? [character, ''] : [character];
    if (column + cells.length > size.columns) down();
    lines[row]?.splice(column, cells.length, ...cells);
    column += cells.length;
  }

  function down(): void {
    row++;
    column = 0;
    lines[row] ??= [];
    top = Math.max(top, row - size.rows + 1);
  }

  function move(count: string, how: string): void {
    if (how === 'A') row = Math.max(top, row - Number(count));
    if (how === 'H') [row, column] = [top, 0];
    if (how === 'J' && count === '0') lines = [...lines.slice(0, row), lines[row]?.slice(0, column) ?? []];
    if (how === 'J' && count === '2') lines = [...lines.slice(0, top), []];
  }

  const textOf = (line: readonly string[]) => line.join('').trimEnd();
  return {
    write: (text) => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
      for (const [part, count, how] of text.matchAll(/\x1b\[([0-9;]*)([a-zA-Z])|./gsu)) {
        if (how !== undefined) move(count ?? '', how);
        else if (part === '\n') down();
        else if (part === '\r') column = 0;
        else put(part);
      }
    },
    size: () => size,
    resize: (newColumns, newRows) => {
      const before = lines;
      size = { columns: newColumns, rows: newRows };
      lines = [[]];
      [top, row, column] = [0, 0, 0];
      for (const [index, line] of before.entries()) {
        if (index > 0) down();
        for (const character of line) if (character !== '') put(character);
      }
    },
    shown: () => lines.slice(top).map(textOf),
    gone: () => lines.slice(0, top).map(textOf),
  };
}
