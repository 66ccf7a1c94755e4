import { delaySecondsFrom, SQS_LIMITS } from '../../lib/adapters/sqs/sqs-limits.ts';
import type { Script } from '../../lib/app/simulation/scripted-runtime.ts';
import { type Scenario, simulate } from '../../lib/app/simulation/simulate.ts';
import type { Simulation } from '../../lib/app/simulation/simulation.ts';
import type { Actor } from '../../lib/core/delivery/actor.ts';
import type { CallResult } from '../../lib/core/delivery/outcome.ts';
import { defined } from '../../lib/core/text/defined.ts';
import { type JsonText, jsonText } from '../../lib/core/text/json-text.ts';
import { anActor, at, deriveId, faultEnd, NOW, NOW_TEXT, resiliencyOf } from '../core/a-delivery.ts';

/** A mesh of actors on SQS, and one envelope that passes through it. */

export interface Staging {
  /** For `score`, the first actor. */
  readonly policies?: unknown;
  readonly rules?: unknown;
  readonly actor?: Partial<Actor>;
  readonly next?: readonly string[];
  /** By the name of the actor. */
  readonly fail?: Readonly<Record<string, Script['failures']>>;
  readonly takesMs?: Readonly<Record<string, number>>;
  /** By the name of the actor: the JSON texts that it returns, one for each item. */
  readonly items?: Readonly<Record<string, readonly string[]>>;
  readonly timeoutMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload?: string;
  readonly randomValue?: number;
  readonly maxDeliveries?: number;
}

const OTHERS = ['store', 'recover', 'review'];

/** Fails this number of calls with the error, by default all. */
export function failing(
  end: CallResult | string,
  times = Number.POSITIVE_INFINITY,
): Script['failures'][number] {
  return { times, end: typeof end === 'string' ? faultEnd({ type: end }) : end };
}

export function aScenario(staging: Staging = {}): Scenario {
  const { policies = {}, rules = [], actor = {}, next = [], fail = {}, takesMs = {}, timeoutMs } = staging;
  const actors = [
    anActor({ resiliency: resiliencyOf(policies, rules), ...actor }),
    ...OTHERS.map((name) => anActor({ name })),
    anActor({ name: 'x-sink', isEnd: true, crew: { role: 'sink', sump: 'x-sump' } }),
    anActor({ name: 'x-sump', isEnd: true, crew: { role: 'sump' } }),
  ];
  return {
    actors: new Map(actors.map((one) => [one.name, one])),
    envelope: {
      id: 'e-1',
      route: { prev: [], curr: 'score', next },
      headers: new Map(Object.entries(staging.headers ?? {}).map(([name, text]) => [name, jsonText(text)])),
      payload: jsonText(staging.payload ?? 'p'),
      status: { created_at: NOW_TEXT, ...(timeoutMs !== undefined && { deadline_at: at(timeoutMs) }) },
      extra: new Map(),
    },
    scripts: new Map(
      actors.map(({ name }): [string, Script] => [
        name,
        { failures: fail[name] ?? [], takesMs: takesMs[name] ?? 0, ...answerWith(staging.items?.[name]) },
      ]),
    ),
    startMs: NOW,
    traits: { limits: SQS_LIMITS, actualDelayMs: (delayMs) => delaySecondsFrom(delayMs) * 1000 },
    random: () => staging.randomValue ?? 0,
    deriveId,
    ...defined({ maxDeliveries: staging.maxDeliveries }),
  };
}

function answerWith(items: readonly string[] | undefined): Pick<Script, 'answer'> {
  if (items === undefined) return {};
  const frames = items.map((payload) => ({ payload: payload as JsonText }));
  return { answer: async () => ({ kind: 'frames', frames }) };
}

/** One line per delivery: time, actor, attempt and decision. */
function timelineOf({ steps }: Simulation): readonly string[] {
  return steps.map(({ atMs, actor, attempt, decision }) =>
    [`${atMs / 1000}s`, actor, ...(attempt === undefined ? [] : [attempt]), decision.kind].join(' '),
  );
}

export async function simulated(
  staging: Staging = {},
): Promise<Simulation & { readonly timeline: readonly string[] }> {
  const simulation = await simulate(aScenario(staging));
  return { ...simulation, timeline: timelineOf(simulation) };
}
