import { delaySecondsFrom, SQS_LIMITS } from '../../adapters/sqs/sqs-limits.ts';
import { deriveId } from '../../adapters/system/system.ts';
import type { Script } from '../../app/simulation/scripted-runtime.ts';
import type { Scenario } from '../../app/simulation/simulate.ts';
import type { Manifest } from '../../config/manifest/manifest.ts';
import { isActorPlan } from '../../config/plan/function-plan.ts';
import { planMesh } from '../../config/plan/mesh-plan.ts';
import type { Headers } from '../../core/envelope/envelope.ts';
import { FLOW, NO_HEADERS, withHeader } from '../../core/envelope/headers.ts';
import type { JsonText } from '../../core/text/json-text.ts';
import { suggestion } from '../../core/text/nearest.ts';
import { timestampText } from '../../core/text/timestamp.ts';
import type { Random } from '../../ports/clock.ts';
import { ScenarioMistake } from './scenario-mistake.ts';

/** Where an envelope goes. */
export interface Target {
  /** Undefined if the target is an actor. */
  readonly flow?: string;
  readonly route: readonly string[];
  readonly timeoutMs?: number;
}

/** The route and the timeout of a flow, or the route to one actor. Throws a ScenarioMistake if there is neither. */
export function targetOf({ flows, actors }: Manifest, target: string): Target {
  const flow = flows.find(({ name }) => name === target);
  if (flow !== undefined) {
    const { entrypoint, routeNext, timeoutSeconds } = flow;
    const timeout = timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1000 };
    return { flow: target, route: [entrypoint, ...routeNext], ...timeout };
  }
  if (actors.some(({ name }) => name === target)) return { route: [target] };
  const names = [...flows, ...actors].map(({ name }) => name);
  throw new ScenarioMistake(`the mesh has no flow or actor "${target}"${suggestion(target, names)}`);
}

export interface Entry extends Target {
  readonly envelopeId: string;
  readonly payload: JsonText;
  /** Besides the header that names the flow. */
  readonly headers: ReadonlyMap<string, JsonText>;
  readonly startMs: number;
  readonly random: Random;
  /** By actor. */
  readonly scripts: ReadonlyMap<string, Script>;
}

/** Plans the mesh as deployment does, and creates the envelope as the gateway does. */
export function meshScenario(manifest: Manifest, entry: Entry): Scenario {
  const { envelopeId, flow, route, timeoutMs, payload, scripts, startMs, random } = entry;
  const [curr = '', ...next] = route;
  const deadline = timeoutMs === undefined ? {} : { deadline_at: timestampText(startMs + timeoutMs) };
  const { functions } = planMesh(manifest, { region: 'us-east-1', storage: {} });
  const flowHeader = flow === undefined ? NO_HEADERS : withHeader(NO_HEADERS, FLOW, flow);
  const headers: Headers = new Map([...flowHeader, ...entry.headers]);
  return {
    actors: new Map(functions.filter(isActorPlan).map(({ actor, config }) => [actor, config.actor])),
    envelope: {
      id: envelopeId,
      route: { prev: [], curr, next },
      headers,
      payload,
      status: { phase: 'pending', created_at: timestampText(startMs), ...deadline },
      extra: new Map(),
    },
    scripts,
    startMs,
    traits: { limits: SQS_LIMITS, actualDelayMs: (delayMs) => delaySecondsFrom(delayMs) * 1000 },
    random,
    deriveId,
  };
}

/** Random numbers for jitter: always 0.5 without a seed, otherwise a repeatable sequence (mulberry32). */
export function randomFrom(seed: number | undefined): Random {
  if (seed === undefined) return () => 0.5;
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    const mixed = Math.imul(state ^ (state >>> 15), state | 1);
    const stirred = mixed ^ (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61));
    return ((stirred ^ (stirred >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The start of a simulation if no other is given: now, in whole seconds. */
export function wholeSecond(now: number): number {
  return Math.floor(now / 1000) * 1000;
}
