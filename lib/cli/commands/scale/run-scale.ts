import { resolve } from 'node:path';
import { readMesh } from '../../../assembly/mesh/read-mesh.ts';
import { randomFrom } from '../../../assembly/simulation/mesh-scenario.ts';
import { simulateDay } from '../../../config/load-model/simulate-day.ts';
import type { Manifest } from '../../../config/manifest/manifest.ts';
import { scaledMesh } from '../../../config/scaling/mesh-demand.ts';
import { scalingReport } from '../../../config/scaling/scaling-report.ts';
import { tunedMesh } from '../../../config/scaling/tuned-mesh.ts';
import { defined } from '../../../core/text/defined.ts';
import { EXIT } from '../../exit-status.ts';
import { invalidMeshText } from '../../output/mistakes.ts';
import type { Terminal } from '../../output/terminal.ts';
import { UsageError } from '../../usage-error.ts';
import { seedFrom } from '../simulate/simulate-options.ts';
import { dayJson } from './day-json.ts';
import { dayText } from './day-text.ts';
import { limitsText, ratesText, workloadText } from './limits-text.ts';
import { outageFrom, type ScaleOptions, workloadFrom } from './scale-options.ts';

const RATES = [100, 1_000, 10_000, 100_000];
const DEFAULT_SEED = 1;

/** `asya scale`: prints the limits of a mesh, and a day at one rate. */
export function runScale(terminal: Terminal, options: ScaleOptions, folder: string): number {
  const manifest = manifestIn(folder, terminal.cwd);
  const workload = workloadFrom(options, manifest);
  const outage = outageFrom(options, manifest);
  const mesh = scaledMesh(manifest, { region: 'us-east-1', storage: {} });
  const reportAt = (ratePerSecond: number) => scalingReport(mesh, { ...workload, ratePerSecond });
  const head = workloadText(manifest, workload);
  if (options.rate === undefined) {
    if (outage !== undefined || options.tuned === true)
      throw new UsageError('asya: --outage and --tuned need --rate, the rate of the day');
    const reports = RATES.map((rate) => ({ rate, report: reportAt(rate) }));
    terminal.print(
      options.json === true
        ? JSON.stringify({ rates: reports.map(({ rate, report }) => ({ rate, ...report })) }, null, 2)
        : `${head}\n\n${ratesText(reports)}`,
    );
    return EXIT.ok;
  }
  const report = reportAt(workload.ratePerSecond);
  const planned = options.tuned === true ? tunedMesh(mesh, workload) : mesh;
  const random = randomFrom(seedFrom(options.seed) ?? DEFAULT_SEED);
  const day = simulateDay(planned, workload, { random, ...defined({ outage }) });
  terminal.print(
    options.json === true
      ? JSON.stringify({ rate: workload.ratePerSecond, ...report, day: dayJson(day) }, null, 2)
      : [
          head,
          limitsText(report, workload),
          dayText(day, { ...defined({ outage }), isTuned: options.tuned === true }),
        ].join('\n\n'),
  );
  return EXIT.ok;
}

function manifestIn(folder: string, cwd: string): Manifest {
  const reading = readMesh(resolve(cwd, folder), 'ignored');
  if ('manifest' in reading) return reading.manifest;
  throw new UsageError(invalidMeshText(reading.mistakes));
}
