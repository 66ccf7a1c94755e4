/** A shell command that starts a runtime. `exec` replaces the shell with it. */
export function commandOf(...words: readonly string[]): string {
  return `exec ${words.map(quoted).join(' ')}`;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
