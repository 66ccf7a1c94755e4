import { readMesh } from '../../../assembly/mesh/read-mesh.ts';
import { type Mistake, mistakesText } from '../../../core/text/mistake.ts';

export interface Validation {
  readonly folder: string;
  /** For scripts: one JSON document instead of words. */
  readonly isJson: boolean;
  readonly write: (line: string) => void;
  readonly complain: (words: string) => void;
}

const EXIT_FINE = 0;
const EXIT_MISTAKEN = 2;

/** `asya validate`: reads a mesh as everything else does, and tells what is wrong with it. Returns the exit status. */
export function runValidate({ folder, isJson, write, complain }: Validation): number {
  const reading = readMesh(folder);
  const { warnings } = reading;
  if ('manifest' in reading) {
    const actors = reading.manifest.actors.map(({ name }) => name);
    const flows = reading.manifest.flows.map(({ name }) => name);
    if (isJson) write(JSON.stringify({ isFine: true, actors, flows, mistakes: [], warnings }));
    else {
      tellWarnings(warnings, complain);
      const besides = warnings.length === 0 ? '' : `, with ${counted(warnings.length, 'warning')}`;
      write(`${counted(actors.length, 'actor')}, ${counted(flows.length, 'flow')}: fine${besides}`);
    }
    return EXIT_FINE;
  }
  const { mistakes } = reading;
  if (isJson) write(JSON.stringify({ isFine: false, mistakes, warnings }));
  else {
    complain(`asya: ${counted(mistakes.length, 'mistake')} in the mesh`);
    complain(mistakesText(mistakes).replace(/^/gm, '  '));
    tellWarnings(warnings, complain);
  }
  return EXIT_MISTAKEN;
}

function tellWarnings(warnings: readonly Mistake[], complain: (words: string) => void): void {
  if (warnings.length > 0) complain(mistakesText(warnings).replace(/^/gm, '  warning: '));
}

function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}
