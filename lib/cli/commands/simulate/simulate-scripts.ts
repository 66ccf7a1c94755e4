import type { Script, ScriptedFailure } from '../../../app/simulation/scripted-runtime.ts';
import type { ActorSpec } from '../../../config/manifest/manifest.ts';
import { defined } from '../../../core/text/defined.ts';
import { durationMs } from '../../../core/text/duration.ts';
import { UsageError } from '../../usage-error.ts';
import { actorNamed, failureFrom } from './simulate-fail.ts';

/** How long a call takes by default. With 0, every deadline would seem easy to meet. */
const DEFAULT_CALL_MS = 1_000;

export interface ScriptOptions {
  readonly fail?: readonly string[];
  readonly take?: readonly string[];
}

export interface Scripts {
  readonly scripts: ReadonlyMap<string, Script>;
  /** How long a call takes unless `--take` names its actor. */
  readonly callMs: number;
}

/** How every actor behaves, according to `--fail` and `--take`. */
export function scriptsFrom(
  { fail = [], take = [] }: ScriptOptions,
  actors: ReadonlyMap<string, ActorSpec>,
): Scripts {
  const failures = failuresFrom(fail, actors);
  const takes = take.map((text) => takeFrom(text, actors));
  const callMs = takes.findLast(({ actor }) => actor === undefined)?.takesMs ?? DEFAULT_CALL_MS;
  const scripts = [...actors.keys()].map((name): [string, Script] => {
    const takesMs = takes.findLast(({ actor }) => actor === name)?.takesMs ?? callMs;
    return [name, { failures: failures.get(name) ?? [], takesMs }];
  });
  return { scripts: new Map(scripts), callMs };
}

function failuresFrom(
  texts: readonly string[],
  actors: ReadonlyMap<string, ActorSpec>,
): ReadonlyMap<string, readonly ScriptedFailure[]> {
  const byActor = new Map<string, ScriptedFailure[]>();
  for (const text of texts) {
    const { actor, failure } = failureFrom(text, actors);
    const before = byActor.get(actor) ?? [];
    if (before.some(({ times }) => times === Number.POSITIVE_INFINITY)) {
      const problem = `is never reached, because an earlier --fail for "${actor}" has no limit; add one, e.g. "*3"`;
      throw new UsageError(`asya: --fail "${text}" ${problem}`);
    }
    byActor.set(actor, [...before, failure]);
  }
  return byActor;
}

/** `score=2s`, or `2s` for every actor. */
function takeFrom(
  text: string,
  actors: ReadonlyMap<string, ActorSpec>,
): { readonly actor?: string; readonly takesMs: number } {
  const [, name, duration = ''] = /^(?:([^=]*)=)?(.*)$/.exec(text) ?? [];
  const actor = name === undefined ? undefined : actorNamed(name, actors, `--take "${text}"`).name;
  const takesMs = durationMs(duration);
  if (takesMs === undefined)
    throw new UsageError(
      `asya: --take is "${text}"; expected ACTOR=DURATION or DURATION, e.g. "score=2s" or "500ms"`,
    );
  return { ...defined({ actor }), takesMs };
}
