import type { LocatedMistake } from './located-mistake.ts';

const UNKNOWN_FIELD = /^is not a known field; did you mean "(.*)"\?$/;

/** Without "is missing" for fields that are there under a misspelt name, which has a mistake of its own. */
export function withoutConsequences(mistakes: readonly LocatedMistake[]): readonly LocatedMistake[] {
  const meant = new Set(
    mistakes.flatMap((mistake) => {
      const [, field] = UNKNOWN_FIELD.exec(mistake.problem) ?? [];
      if (field === undefined) return [];
      // An actor needs one of these.
      const fields = ['image', 'url'].includes(field) ? [field, 'handler'] : [field];
      return fields.map((one) => `${holderOf(mistake)}.${one}`);
    }),
  );
  return mistakes.filter(
    (mistake) =>
      !(mistake.problem.startsWith('is missing') && meant.has(`${holderOf(mistake)}.${fieldOf(mistake)}`)),
  );
}

/** The file and the path of the map that has the field. Documents of a file are distinguished by name only. */
function holderOf({ file, place }: LocatedMistake): string {
  const path = place.slice(place.indexOf(' ') + 1);
  return `${file} ${path.slice(0, Math.max(0, path.lastIndexOf('.')))}`;
}

function fieldOf({ place }: LocatedMistake): string {
  const path = place.slice(place.indexOf(' ') + 1);
  return path.slice(path.lastIndexOf('.') + 1);
}
