/** A hint such as `; did you mean "score"?`. Empty if `names` is empty. */
export function didYouMean(typed: string, names: readonly string[]): string {
  const ranked = names.map((name) => [editDistance(typed, name), name] as const).sort(([a], [b]) => a - b);
  return ranked[0] === undefined ? '' : `; did you mean "${ranked[0][1]}"?`;
}

/** Levenshtein distance. */
function editDistance(from: string, to: string): number {
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const [left = 0, above = 0, both = 0] = [current[column - 1], last[column], last[column - 1]];
      current.push(Math.min(left + 1, above + 1, both + (isSame ? 0 : 1)));
    }
    last = current;
  }
  return last[to.length] ?? 0;
}
