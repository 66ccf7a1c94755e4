import type { Scenario } from '../../../app/simulation/simulate.ts';
import {
  meshScenario,
  randomFrom,
  type Target,
  targetOf,
} from '../../../assembly/simulation/mesh-scenario.ts';
import { ScenarioMistake } from '../../../assembly/simulation/scenario-mistake.ts';
import { type ScriptOptions, scriptsFrom } from '../../../assembly/simulation/scripts-from-text.ts';
import type { Manifest } from '../../../config/manifest/manifest.ts';
import { NO_HEADERS } from '../../../core/envelope/headers.ts';
import { defined } from '../../../core/text/defined.ts';
import { UsageError } from '../../usage-error.ts';
import { headersFrom, payloadFrom, seedFrom, startFrom } from './simulate-options.ts';

export interface SimulateOptions extends ScriptOptions {
  readonly at?: string;
  readonly seed?: string;
  readonly header?: readonly string[];
  readonly payload?: string;
}

/** The scenario to simulate, and the options that its report mentions. */
export interface SimulationPlan extends Target {
  readonly scenario: Scenario;
  /** How long a call takes unless `--take` names its actor. */
  readonly callMs: number;
  readonly seed?: number;
}

interface Caller {
  readonly cwd: string;
  readonly now: () => number;
}

/** Throws a UsageError if the mesh has no such target, or an option is not valid. */
export function prepareSimulation(
  manifest: Manifest,
  name: string,
  options: SimulateOptions,
  caller: Caller,
): SimulationPlan {
  try {
    return simulationPlan(manifest, name, options, caller);
  } catch (error) {
    throw error instanceof ScenarioMistake ? new UsageError(`asya: ${error.message}`) : error;
  }
}

function simulationPlan(
  manifest: Manifest,
  name: string,
  options: SimulateOptions,
  { cwd, now }: Caller,
): SimulationPlan {
  const target = targetOf(manifest, name);
  const specs = new Map(manifest.actors.map((actor) => [actor.name, actor]));
  const { scripts, callMs } = scriptsFrom(options, specs, { fail: '--fail', take: '--take' });
  const startMs = startFrom(options.at, now);
  const seed = seedFrom(options.seed);
  const scenario = meshScenario(manifest, {
    ...target,
    envelopeId: 'simulated',
    payload: payloadFrom(options.payload, cwd),
    headers: headersFrom(options.header, NO_HEADERS),
    startMs,
    random: randomFrom(seed),
    scripts,
  });
  return { scenario, ...target, callMs, ...defined({ seed }) };
}
