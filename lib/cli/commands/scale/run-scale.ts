import { resolve } from 'node:path';
import { readMesh } from '../../../assembly/mesh/read-mesh.ts';
import { randomFrom } from '../../../assembly/simulation/mesh-scenario.ts';
import { simulateDay } from '../../../config/load-model/simulate-day.ts';
import type { Manifest } from '../../../config/manifest/manifest.ts';
import type { Limit } from '../../../config/scaling/limit.ts';
import { type ScaledMesh, scaledMesh } from '../../../config/scaling/mesh-demand.ts';
import { scalingReport } from '../../../config/scaling/scaling-report.ts';
import { tunedMesh } from '../../../config/scaling/tuned-mesh.ts';
import type { Workload } from '../../../config/scaling/workload.ts';
import { defined } from '../../../core/text/defined.ts';
import { EXIT } from '../../exit-status.ts';
import { invalidMeshText } from '../../output/mistakes.ts';
import type { Terminal } from '../../output/terminal.ts';
import { UsageError } from '../../usage-error.ts';
import { seedFrom } from '../simulate/simulate-options.ts';
import { dayJson } from './day-json.ts';
import { dayText } from './day-text.ts';
import { daysText } from './days-text.ts';
import { limitsText, type RateReport, ratesText, workloadText } from './limits-text.ts';
import { crewReplicasFrom, outageFrom, type ScaleOptions, workloadFrom } from './scale-options.ts';

const RATES = [100, 1_000, 10_000, 100_000];
const DEFAULT_SEED = 1;

/** `asya scale`: prints the limits of a mesh, and a day under load. */
export function runScale(terminal: Terminal, options: ScaleOptions, folder: string): number {
  const manifest = manifestIn(folder, terminal.cwd);
  const workload = workloadFrom(options, manifest);
  const crewReplicas = crewReplicasFrom(options);
  const scaling: Scaling = {
    mesh: scaledMesh(manifest, { region: 'us-east-1', storage: {}, ...defined({ crewReplicas }) }),
    seed: seedFrom(options.seed) ?? DEFAULT_SEED,
    ...defined({ outage: outageFrom(options, manifest) }),
  };
  const head = workloadText(manifest, workload);
  const isJson = options.json === true;
  if (options.rate === undefined) {
    const rates = RATES.map((rate) => atRate(scaling, { ...workload, ratePerSecond: rate }, true));
    terminal.print(
      isJson
        ? jsonText({ rates: rates.map(rateJson) })
        : `${head}\n\n${ratesText(rates)}\n\n${daysText(rates, scaling.outage)}`,
    );
    return EXIT.ok;
  }
  const isTuned = options.tuned === true;
  const one = atRate(scaling, workload, isTuned);
  const assumptions = { isTuned, ...defined({ outage: scaling.outage }) };
  terminal.print(
    isJson ? jsonText(rateJson(one)) : [head, limitsText(one), dayText(one.day, assumptions)].join('\n\n'),
  );
  return EXIT.ok;
}

interface Scaling {
  readonly mesh: ScaledMesh;
  readonly outage?: string;
  readonly seed: number;
}

function atRate({ mesh, outage, seed }: Scaling, workload: Workload, isTuned: boolean): RateReport {
  const planned = isTuned ? tunedMesh(mesh, workload) : mesh;
  return {
    rate: workload.ratePerSecond,
    report: scalingReport(mesh, workload),
    day: simulateDay(planned, workload, { random: randomFrom(seed), ...defined({ outage }) }),
  };
}

function rateJson({ rate, report, day }: RateReport) {
  const { limits, ...rest } = report;
  return { rate, limits: limits.map(withAdviceIfExceeded), ...rest, day: dayJson(day) };
}

/** A limit that is not exceeded needs no change. */
function withAdviceIfExceeded({ advice, ...limit }: Limit): Omit<Limit, 'advice'> & Partial<Limit> {
  return limit.needed > limit.limit ? { ...limit, advice } : limit;
}

function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function manifestIn(folder: string, cwd: string): Manifest {
  const reading = readMesh(resolve(cwd, folder), 'ignored');
  if ('manifest' in reading) return reading.manifest;
  throw new UsageError(invalidMeshText(reading.mistakes));
}
