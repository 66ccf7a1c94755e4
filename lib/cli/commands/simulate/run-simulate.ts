import { resolve } from 'node:path';
import { simulate } from '../../../app/simulation/simulate.ts';
import { readMesh } from '../../../assembly/mesh/read-mesh.ts';
import type { Manifest } from '../../../config/manifest/manifest.ts';
import { EXIT } from '../../exit-status.ts';
import { invalidMeshText } from '../../output/mistakes.ts';
import type { Terminal } from '../../output/terminal.ts';
import { UsageError } from '../../usage-error.ts';
import { assumptionNotes } from './assumption-notes.ts';
import { simulationJson } from './simulate-json.ts';
import { prepareSimulation, type SimulateOptions } from './simulate-scenario.ts';
import { simulationText } from './simulate-text.ts';

/** `asya simulate`: prints the timeline of an envelope. */
export async function runSimulate(
  terminal: Terminal,
  options: SimulateOptions & { readonly json?: boolean },
  folder: string,
  target: string,
): Promise<number> {
  const manifest = readManifest(folder, terminal.cwd);
  const plan = prepareSimulation(manifest, target, options, terminal);
  const simulation = await simulate(plan.scenario);
  if (simulation.steps.length === 0 && simulation.end.kind === 'released')
    throw new UsageError(`asya: SQS rejects an envelope with this --payload: ${simulation.end.problem}`);
  terminal.print(
    options.json === true
      ? JSON.stringify(simulationJson(plan, simulation), null, 2)
      : simulationText(plan, simulation, assumptionNotes(options.fail ?? [], manifest.actors)),
  );
  return EXIT.ok;
}

function readManifest(folder: string, cwd: string): Manifest {
  const reading = readMesh(resolve(cwd, folder), 'ignored');
  if ('manifest' in reading) return reading.manifest;
  throw new UsageError(invalidMeshText(reading.mistakes));
}
