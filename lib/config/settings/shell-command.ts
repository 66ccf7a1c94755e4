/** A command for the shell that starts a runtime: the shell gives way to it. */
export function commandOf(...words: readonly string[]): string {
  return `exec ${words.map(quoted).join(' ')}`;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
