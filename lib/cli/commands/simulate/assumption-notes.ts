import type { ActorSpec } from '../../../config/manifest/manifest.ts';
import { standardError } from '../../../core/policy/standard-errors.ts';

/** One note for each error of `--fail` whose ancestors are neither given nor known. */
export function assumptionNotes(
  fail: readonly string[],
  actors: readonly Pick<ActorSpec, 'name' | 'runtime'>[],
): readonly string[] {
  const notes = fail.flatMap((text) => {
    const [, name, type] = /^([^:]*):([^:<@*]+)(?:[@*]|$)/.exec(text) ?? [];
    const actor = actors.find((one) => one.name === name);
    if (type === undefined || actor === undefined || KEYWORDS.includes(type)) return [];
    const language = actor.runtime.kind === 'node' ? 'node' : 'python';
    if (type.startsWith(OWN_ERRORS) || standardError(type, language) !== undefined) return [];
    const base = language === 'node' ? 'Error' : 'Exception';
    return [`assumes that ${type} derives from ${base} directly; write "${type}<Parent" to say otherwise`];
  });
  return [...new Set(notes)];
}

const KEYWORDS: readonly string[] = ['timeout', 'crash'];

/** `asya.RetryAfter` and `asya.NonRetryable` derive from `Exception`. */
const OWN_ERRORS = 'asya.';
