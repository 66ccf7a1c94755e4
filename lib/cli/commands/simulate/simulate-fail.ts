import type { ScriptedFailure } from '../../../app/simulation/scripted-runtime.ts';
import type { ActorSpec } from '../../../config/manifest/manifest.ts';
import { answerFromHttp, faultFromErrorObject } from '../../../core/delivery/answer.ts';
import type { CallEnd } from '../../../core/delivery/outcome.ts';
import { patternFromText } from '../../../core/policy/policy-match.ts';
import { defined } from '../../../core/text/defined.ts';
import { durationMs } from '../../../core/text/duration.ts';
import { suggestion } from '../../../core/text/nearest.ts';
import { UsageError } from '../../usage-error.ts';
import { mroOf } from './known-errors.ts';

const FAIL_RULE =
  'it takes ACTOR:ERROR*TIMES, such as "score:ValueError*3", "score:http:503" or "score:timeout"';

/** What `--fail` can name besides an error's type. */
const WORDS = ['timeout', 'crash', 'http:503'];

/** `score:ValueError*3`: whose calls fail, how, and how many of them. */
export function failureFrom(
  text: string,
  actors: ReadonlyMap<string, ActorSpec>,
): { readonly actor: string; readonly failure: ScriptedFailure } {
  const [, name, error, star, count] = /^([^:]*):(.*?)(?:(\*)(\d*))?$/.exec(text) ?? [];
  if (name === undefined || name === '' || error === undefined || error === '')
    return refuse(text, FAIL_RULE);
  const actor = actorNamed(name, actors, `--fail "${text}"`);
  const times = star === undefined || count === '' ? Number.POSITIVE_INFINITY : Number(count);
  if (times === 0) refuse(text, '"*0" fails no call; leave it out, or say how many');
  if (error.includes('*')) refuse(text, `what follows "*" is no number; ${FAIL_RULE}`);
  return { actor: name, failure: { times, end: endFrom(error, text, actor) } };
}

export function actorNamed(name: string, actors: ReadonlyMap<string, ActorSpec>, place: string): ActorSpec {
  const actor = actors.get(name);
  if (actor !== undefined) return actor;
  throw new UsageError(`asya: ${place}: the mesh has no actor "${name}"${suggestion(name, actors.keys())}`);
}

function endFrom(error: string, text: string, actor: ActorSpec): CallEnd {
  if (error === 'timeout') return { kind: 'timeout' };
  if (error === 'crash') return { kind: 'unreachable', detail: 'the connection was lost during the call' };
  const [, what = '', pause] = /^([^@]*)(?:@(.*))?$/.exec(error) ?? [];
  const retryAfter = pause === undefined ? undefined : secondsFrom(pause, text);
  return /^http:/i.test(what) ? httpEnd(what, retryAfter, text) : errorEnd(what, retryAfter, text, actor);
}

/** As a runtime's bare HTTP status is read. */
function httpEnd(what: string, retryAfter: number | undefined, text: string): CallEnd {
  const status = Number(/^http:([45]\d\d)$/.exec(what)?.[1]);
  if (Number.isNaN(status))
    return refuse(text, `"${what}" is no HTTP error; one is "http:400" to "http:599"`);
  return answerFromHttp(
    { status, text: '', ...(retryAfter !== undefined && { retryAfter: String(retryAfter) }) },
    'array',
  );
}

/** As a runtime's error object is read. */
function errorEnd(
  what: string,
  retryAfter: number | undefined,
  text: string,
  { runtime }: ActorSpec,
): CallEnd {
  const names = what.split('<').map((name) => name.trim());
  const [type = '', ...ancestors] = names;
  for (const name of names) {
    if (patternFromText(name) === undefined) refuse(text, `"${name}" is no error's name; ${FAIL_RULE}`);
  }
  // No class is called so, and the words beside the types are easily mistyped.
  if (/^[a-z][^.]*$/.test(type)) refuse(text, `"${type}" is no error's name${suggestion(type, WORDS)}`);
  const fault = faultFromErrorObject({
    error: 'processing_error',
    message: 'simulated',
    type,
    mro: mroOf(type, ancestors, runtime.kind),
    ...defined({ retry_after: retryAfter }),
  });
  return { kind: 'fault', fault };
}

function secondsFrom(pause: string, text: string): number {
  const seconds = /^\d+(\.\d+)?$/.test(pause) ? Number(pause) : (durationMs(pause) ?? Number.NaN) / 1000;
  return Number.isNaN(seconds)
    ? refuse(text, `"@${pause}" is no pause; it takes seconds or a duration, such as "http:429@7"`)
    : seconds;
}

function refuse(text: string, problem: string): never {
  throw new UsageError(`asya: --fail is "${text}"; ${problem}`);
}
