import type { ScriptedFailure } from '../../app/simulation/scripted-runtime.ts';
import type { ActorSpec } from '../../config/manifest/manifest.ts';
import { answerFromHttp, faultFromErrorObject } from '../../core/delivery/answer.ts';
import type { CallResult } from '../../core/delivery/outcome.ts';
import { patternFromText } from '../../core/policy/policy-match.ts';
import { defined } from '../../core/text/defined.ts';
import { durationMs } from '../../core/text/duration.ts';
import { suggestion } from '../../core/text/nearest.ts';
import { mroOf } from './known-errors.ts';
import { ScenarioMistake } from './scenario-mistake.ts';

const FAIL_RULE =
  'expected ACTOR:ERROR*TIMES, e.g. "score:ValueError*3", "score:http:503" or "score:timeout"';

/** What it accepts besides error types. */
const KEYWORDS = ['timeout', 'crash', 'http:503'];

/** Where a text comes from, for messages: `--fail` on the command line. */
export interface TextSource {
  readonly text: string;
  readonly option: string;
}

/** Parses `score:ValueError*3`: the actor, the error, and how many calls fail. */
export function failureFrom(
  source: TextSource,
  actors: ReadonlyMap<string, ActorSpec>,
): { readonly actor: string; readonly failure: ScriptedFailure } {
  const [, name, error, star, count] = /^([^:]*):(.*?)(?:(\*)(\d*))?$/.exec(source.text) ?? [];
  if (name === undefined || name === '' || error === undefined || error === '')
    return reject(source, FAIL_RULE);
  const actor = actorNamed(name, actors, source);
  const times = star === undefined || count === '' ? Number.POSITIVE_INFINITY : Number(count);
  if (times === 0) reject(source, '"*0" fails no calls; omit it, or use a number above 0');
  if (error.includes('*')) reject(source, `the text after "*" is not a number; ${FAIL_RULE}`);
  return { actor: name, failure: { times, end: endFrom(error, source, actor) } };
}

export function actorNamed(
  name: string,
  actors: ReadonlyMap<string, ActorSpec>,
  { text, option }: TextSource,
): ActorSpec {
  const actor = actors.get(name);
  if (actor !== undefined) return actor;
  throw new ScenarioMistake(
    `${option} "${text}": the mesh has no actor "${name}"${suggestion(name, actors.keys())}`,
  );
}

function endFrom(error: string, source: TextSource, actor: ActorSpec): CallResult {
  if (error === 'timeout') return { kind: 'timeout' };
  if (error === 'crash') return { kind: 'unreachable', detail: 'the connection was lost during the call' };
  const [, what = '', pause] = /^([^@]*)(?:@(.*))?$/.exec(error) ?? [];
  const retryAfter = pause === undefined ? undefined : secondsFrom(pause, source);
  return /^http:/i.test(what) ? httpEnd(what, retryAfter, source) : errorEnd(what, retryAfter, source, actor);
}

/** As if a runtime answered with this HTTP status and no error object. */
function httpEnd(what: string, retryAfter: number | undefined, source: TextSource): CallResult {
  const status = Number(/^http:([45]\d\d)$/.exec(what)?.[1]);
  if (Number.isNaN(status))
    return reject(source, `"${what}" is not an HTTP error; expected "http:400" to "http:599"`);
  return answerFromHttp(
    { status, text: '', ...(retryAfter !== undefined && { retryAfter: String(retryAfter) }) },
    'array',
  );
}

/** As if a runtime answered with an error object. */
function errorEnd(
  what: string,
  retryAfter: number | undefined,
  source: TextSource,
  { runtime }: ActorSpec,
): CallResult {
  const names = what.split('<').map((name) => name.trim());
  const [type = '', ...ancestors] = names;
  for (const name of names) {
    if (patternFromText(name) === undefined) reject(source, `"${name}" is not an error type; ${FAIL_RULE}`);
  }
  // Class names are not lower-case, so this is probably a mistyped keyword.
  if (/^[a-z][^.]*$/.test(type))
    reject(source, `"${type}" is not an error type${suggestion(type, KEYWORDS)}`);
  const fault = faultFromErrorObject({
    error: 'processing_error',
    message: 'simulated',
    type,
    mro: mroOf(type, ancestors, runtime.kind),
    ...defined({ retry_after: retryAfter }),
  });
  return { kind: 'fault', fault };
}

function secondsFrom(pause: string, source: TextSource): number {
  const seconds = /^\d+(\.\d+)?$/.test(pause) ? Number(pause) : (durationMs(pause) ?? Number.NaN) / 1000;
  return Number.isNaN(seconds)
    ? reject(
        source,
        `"@${pause}" is not a valid retry_after; expected seconds or a duration, e.g. "http:429@7"`,
      )
    : seconds;
}

function reject({ text, option }: TextSource, problem: string): never {
  throw new ScenarioMistake(`${option} is "${text}"; ${problem}`);
}
