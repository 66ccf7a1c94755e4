import { resolve } from 'node:path';
import { readMesh } from '../../../assembly/mesh/read-mesh.ts';
import { EXIT } from '../../exit-status.ts';
import { countText } from '../../output/count-text.ts';
import { invalidMeshText, warningsText } from '../../output/mistakes.ts';
import type { Terminal } from '../../output/terminal.ts';

/** `asya validate`: reads a mesh as deployment does, and reports its mistakes and warnings. */
export function runValidate(
  { print, printError, cwd }: Terminal,
  { json = false }: { readonly json?: boolean },
  folder: string,
): number {
  const reading = readMesh(resolve(cwd, folder));
  const { warnings, ignored } = reading;
  if ('mistakes' in reading) {
    const { mistakes } = reading;
    if (json) print(JSON.stringify({ isFine: false, mistakes, warnings, ignored }));
    else {
      printError(invalidMeshText(mistakes));
      if (warnings.length > 0) printError(warningsText(warnings));
    }
    return EXIT.usageError;
  }
  const actors = reading.manifest.actors.map(({ name }) => name);
  const flows = reading.manifest.flows.map(({ name }) => name);
  if (json) print(JSON.stringify({ isFine: true, actors, flows, mistakes: [], warnings, ignored }));
  else {
    if (warnings.length > 0) printError(warningsText(warnings));
    const also = warnings.length === 0 ? '' : `, with ${countText(warnings.length, 'warning')}`;
    print(`${countText(actors.length, 'actor')}, ${countText(flows.length, 'flow')}: valid${also}`);
  }
  return EXIT.ok;
}
