/** Half of any other edit: ASYA_GRACE more likely means ASYA_GRACE_PERIOD than another short name. */
const INSERT_OR_DELETE_COST = 1;
const REPLACE_OR_SWAP_COST = 2;

/** The word with the smallest edit distance to the typed one, ignoring case. Undefined if no word is near. */
export function closestWord(typed: string, words: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const word of words) {
    const weight = editDistance(typed.toLowerCase(), word.toLowerCase());
    if (weight < least && weight <= maxDistance(typed, word)) {
      nearest = word;
      least = weight;
    }
  }
  return nearest;
}

/** Beyond one letter in two, a suggestion is a guess: it would send the reader to an unrelated word. */
function maxDistance(typed: string, word: string): number {
  return Math.ceil(Math.max(typed.length, word.length) / 2);
}

/** `; did you mean "..."?`, or an empty text if no word is near. */
export function suggestion(typed: string, words: Iterable<string>): string {
  const nearest = closestWord(typed, words);
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`;
}

/** The weighted Levenshtein distance. Two swapped neighbours count as one edit. */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index * INSERT_OR_DELETE_COST);
  for (let row = 1; row <= from.length; row++) {
    const current = [row * INSERT_OR_DELETE_COST];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current.push(
        Math.min(
          at(last, column) + INSERT_OR_DELETE_COST,
          at(current, column - 1) + INSERT_OR_DELETE_COST,
          at(last, column - 1) + (isSame ? 0 : REPLACE_OR_SWAP_COST),
          isSwapped ? at(beforeLast, column - 2) + REPLACE_OR_SWAP_COST : Number.POSITIVE_INFINITY,
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
