/** A terminal screen that understands the escape sequences of `asya dev`. */
export interface Screen {
  write(text: string): void;
  size(): { readonly columns: number; readonly rows: number };
  /** Wraps the existing lines at the new width, as terminals do. */
  resize(columns: number, rows: number): void;
  /** The visible lines, from top to bottom. */
  visible(): readonly string[];
  /** The lines that scrolled out at the top. */
  scrolledOut(): readonly string[];
}

const WIDE = /\p{Script=Han}|\p{Emoji_Presentation}/u;

export function fakeScreen(columns: number, rows: number): Screen {
  let size = { columns, rows };
  /** A wide character is followed by an empty cell. */
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

  function move(count: string, command: string): void {
    if (command === 'A') row = Math.max(top, row - Number(count));
    if (command === 'H') [row, column] = [top, 0];
    if (command === 'J' && count === '0')
      lines = [...lines.slice(0, row), lines[row]?.slice(0, column) ?? []];
    if (command === 'J' && count === '2') lines = [...lines.slice(0, top), []];
  }

  const textOf = (line: readonly string[]) => line.join('').trimEnd();
  return {
    write: (text) => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
      for (const [part, count, command] of text.matchAll(/\x1b\[([0-9;]*)([a-zA-Z])|./gsu)) {
        if (command !== undefined) move(count ?? '', command);
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
    visible: () => lines.slice(top).map(textOf),
    scrolledOut: () => lines.slice(0, top).map(textOf),
  };
}
