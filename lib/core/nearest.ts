/** The word that takes the fewest edits to become: what somebody who mistyped most likely meant. */
export function nearestWord(typed: string, words: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const word of words) {
    const edits = editsBetween(typed.toLowerCase(), word.toLowerCase());
    if (edits < fewest) {
      nearest = word;
      fewest = edits;
    }
  }
  return nearest;
}

/** "did you mean ...?", or nothing where there are no words to mean. */
export function suggestion(typed: string, words: Iterable<string>): string {
  const nearest = nearestWord(typed, words);
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`;
}

/** Levenshtein's distance, with two swapped neighbours as one edit. */
function editsBetween(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current.push(
        Math.min(
          at(last, column) + 1,
          at(current, column - 1) + 1,
          at(last, column - 1) + (isSame ? 0 : 1),
          isSwapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    beforeLast = last;
    last = current;
  }
  return at(last, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
