import { type Mistake, mistakesText } from '../../../core/text/mistake.ts';

export type WarningFilter = (warnings: readonly Mistake[]) => readonly string[];

/** Passes on the warnings that the previous reading of the mesh did not have. */
export function warningFilter(): WarningFilter {
  let previous: readonly string[] = [];
  return (warnings) => {
    const lines = warnings.map((warning) => mistakesText([warning]));
    const added = lines.filter((line) => !previous.includes(line));
    previous = lines;
    return added;
  };
}
