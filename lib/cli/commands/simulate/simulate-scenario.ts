import { delaySecondsFrom, SQS_LIMITS } from '../../../adapters/sqs/sqs-limits.ts';
import { deriveId } from '../../../adapters/system/system.ts';
import type { Scenario } from '../../../app/simulation/simulate.ts';
import type { Manifest } from '../../../config/manifest/manifest.ts';
import { isActorPlan } from '../../../config/plan/function-plan.ts';
import { planMesh } from '../../../config/plan/mesh-plan.ts';
import { FLOW, NO_HEADERS, withHeader } from '../../../core/envelope/headers.ts';
import { defined } from '../../../core/text/defined.ts';
import { suggestion } from '../../../core/text/nearest.ts';
import { timestampText } from '../../../core/text/timestamp.ts';
import { UsageError } from '../../usage-error.ts';
import { headersFrom, payloadFrom, randomFrom, seedFrom, startFrom } from './simulate-options.ts';
import { type ScriptOptions, scriptsFrom } from './simulate-scripts.ts';

export interface SimulateOptions extends ScriptOptions {
  readonly at?: string;
  readonly seed?: string;
  readonly header?: readonly string[];
  readonly payload?: string;
}

/** The scenario to simulate, and the options that its report mentions. */
export interface SimulationPlan {
  readonly scenario: Scenario;
  /** Undefined if the target is an actor. */
  readonly flow?: string;
  readonly route: readonly string[];
  readonly timeoutMs?: number;
  /** How long a call takes unless `--take` names its actor. */
  readonly callMs: number;
  readonly seed?: number;
}

/** Plans the mesh as deployment does, and creates the envelope as the gateway does. */
export function prepareSimulation(
  manifest: Manifest,
  name: string,
  options: SimulateOptions,
  terminal: { readonly cwd: string; readonly now: () => number },
): SimulationPlan {
  const target = targetOf(manifest, name);
  const [curr = '', ...next] = target.route;
  const specs = new Map(manifest.actors.map((actor) => [actor.name, actor]));
  const { scripts, callMs } = scriptsFrom(options, specs);
  const startMs = startFrom(options.at, terminal.now);
  const seed = seedFrom(options.seed);
  const { flow, timeoutMs } = target;
  const deadline = timeoutMs === undefined ? {} : { deadline_at: timestampText(startMs + timeoutMs) };
  const { functions } = planMesh(manifest, { region: 'us-east-1', storage: {} });
  return {
    scenario: {
      actors: new Map(functions.filter(isActorPlan).map(({ actor, config }) => [actor, config.actor])),
      envelope: {
        id: 'simulated',
        route: { prev: [], curr, next },
        headers: headersFrom(
          options.header,
          flow === undefined ? NO_HEADERS : withHeader(NO_HEADERS, FLOW, flow),
        ),
        payload: payloadFrom(options.payload, terminal.cwd),
        status: { phase: 'pending', created_at: timestampText(startMs), ...deadline },
        extra: new Map(),
      },
      scripts,
      startMs,
      traits: { limits: SQS_LIMITS, actualDelayMs: (delayMs) => delaySecondsFrom(delayMs) * 1000 },
      random: randomFrom(seed),
      deriveId,
    },
    ...target,
    callMs,
    ...defined({ seed }),
  };
}

function targetOf(
  { flows, actors }: Manifest,
  target: string,
): Pick<SimulationPlan, 'flow' | 'route' | 'timeoutMs'> {
  const flow = flows.find(({ name }) => name === target);
  if (flow !== undefined) {
    const { entrypoint, routeNext, timeoutSeconds } = flow;
    const timeout = timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1000 };
    return { flow: target, route: [entrypoint, ...routeNext], ...timeout };
  }
  if (actors.some(({ name }) => name === target)) return { route: [target] };
  const names = [...flows, ...actors].map(({ name }) => name);
  throw new UsageError(`asya: the mesh has no flow or actor "${target}"${suggestion(target, names)}`);
}
