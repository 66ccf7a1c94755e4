import { resolve } from 'node:path';
import { simulate } from '../../../app/simulation/simulate.ts';
import { readMesh } from '../../../assembly/mesh/read-mesh.ts';
import type { Manifest } from '../../../config/manifest/manifest.ts';
import { mistakesText } from '../../../core/text/mistake.ts';
import type { Terminal } from '../../output/terminal.ts';
import { UsageError } from '../../usage-error.ts';
import { simulationJson } from './simulate-json.ts';
import { type SimulateOptions, stage } from './simulate-scenario.ts';
import { simulationText } from './simulate-text.ts';

/** `asya simulate`: prints what would become of an envelope. */
export async function runSimulate(
  folder: string,
  target: string,
  options: SimulateOptions & { readonly json?: boolean },
  terminal: Terminal,
): Promise<void> {
  const staged = stage(meshIn(folder, terminal.cwd), target, options, terminal);
  const simulation = await simulate(staged.scenario);
  if (simulation.steps.length === 0 && simulation.end.kind === 'released')
    throw new UsageError(`asya: --payload makes an envelope that SQS refuses: ${simulation.end.problem}`);
  terminal.print(
    options.json === true
      ? JSON.stringify(simulationJson(staged, simulation), null, 2)
      : simulationText(staged, simulation),
  );
}

function meshIn(folder: string, cwd: string): Manifest {
  const reading = readMesh(resolve(cwd, folder));
  if ('manifest' in reading) return reading.manifest;
  const { mistakes } = reading;
  const count = `${mistakes.length} mistake${mistakes.length === 1 ? '' : 's'}`;
  throw new UsageError(`asya: ${count} in the mesh\n${mistakesText(mistakes).replace(/^/gm, '  ')}`);
}
