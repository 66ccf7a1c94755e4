import type { Script, ScriptedFailure } from '../../app/simulation/scripted-runtime.ts';
import type { ActorSpec } from '../../config/manifest/manifest.ts';
import { defined } from '../../core/text/defined.ts';
import { durationMs } from '../../core/text/duration.ts';
import { actorNamed, failureFrom, type TextSource } from './failure-from-text.ts';
import { ScenarioMistake } from './scenario-mistake.ts';

/** How long a call takes by default. With 0, every deadline would seem easy to meet. */
const DEFAULT_CALL_MS = 1_000;

export interface ScriptOptions {
  /** Failures such as `score:ValueError*3`, in order. */
  readonly fail?: readonly string[];
  /** Durations of calls: `score=2s`, or `2s` for every actor. */
  readonly take?: readonly string[];
}

/** The names of the two options in messages: `--fail` on the command line, `fail` in a test. */
export interface OptionNames {
  readonly fail: string;
  readonly take: string;
}

export interface Scripts {
  readonly scripts: ReadonlyMap<string, Script>;
  /** How long a call takes unless `take` names its actor. */
  readonly callMs: number;
}

/** How every actor behaves. Throws a ScenarioMistake. */
export function scriptsFrom(
  { fail = [], take = [] }: ScriptOptions,
  actors: ReadonlyMap<string, ActorSpec>,
  names: OptionNames,
): Scripts {
  const failures = failuresFrom(
    fail.map((text) => ({ text, option: names.fail })),
    actors,
  );
  const takes = take.map((text) => takeFrom({ text, option: names.take }, actors));
  const callMs = takes.findLast(({ actor }) => actor === undefined)?.takesMs ?? DEFAULT_CALL_MS;
  const scripts = [...actors.keys()].map((name): [string, Script] => {
    const takesMs = takes.findLast(({ actor }) => actor === name)?.takesMs ?? callMs;
    return [name, { failures: failures.get(name) ?? [], takesMs }];
  });
  return { scripts: new Map(scripts), callMs };
}

function failuresFrom(
  sources: readonly TextSource[],
  actors: ReadonlyMap<string, ActorSpec>,
): ReadonlyMap<string, readonly ScriptedFailure[]> {
  const byActor = new Map<string, ScriptedFailure[]>();
  for (const source of sources) {
    const { actor, failure } = failureFrom(source, actors);
    const before = byActor.get(actor) ?? [];
    if (before.some(({ times }) => times === Number.POSITIVE_INFINITY)) {
      const { text, option } = source;
      const problem = `is never reached, because an earlier ${option} for "${actor}" has no limit; add one, e.g. "*3"`;
      throw new ScenarioMistake(`${option} "${text}" ${problem}`);
    }
    byActor.set(actor, [...before, failure]);
  }
  return byActor;
}

/** `score=2s`, or `2s` for every actor. */
function takeFrom(
  source: TextSource,
  actors: ReadonlyMap<string, ActorSpec>,
): { readonly actor?: string; readonly takesMs: number } {
  const [, name, duration = ''] = /^(?:([^=]*)=)?(.*)$/.exec(source.text) ?? [];
  const actor = name === undefined ? undefined : actorNamed(name, actors, source).name;
  const takesMs = durationMs(duration);
  if (takesMs === undefined)
    throw new ScenarioMistake(
      `${source.option} is "${source.text}"; expected ACTOR=DURATION or DURATION, e.g. "score=2s" or "500ms"`,
    );
  return { ...defined({ actor }), takesMs };
}
