import { defined } from '../text/defined.ts';
import { describeValue, excerpt } from '../text/describe-value.ts';
import type { Fields } from '../text/fields.ts';
import { type JsonText, shallowValueFromJson } from '../text/json-text.ts';
import { instantMs, TIMESTAMP_RULE, toUtcText } from '../text/timestamp.ts';
import {
  ACTOR_NAME_RULE,
  isActorName,
  isReservedName,
  isRoutableName,
  RESERVED_NAME_RULE,
} from './actor-name.ts';
import { type Route, reasonFromText, type Status } from './envelope.ts';

/** Reads the two parts of an envelope that the sidecar parses completely: route and status. */

/** No valid route or status is nested this deeply. Writing a deeper value again could exhaust the stack. */
const MAX_DEPTH = 500;

/** The fields of an object, or the problem with it. */
function readFields(name: string, text: JsonText): Fields | string {
  if (!text.startsWith('{')) return `${name} is ${excerpt(text)}; expected an object`;
  const shallow = shallowValueFromJson(text, MAX_DEPTH);
  return shallow === undefined
    ? `${name} is nested deeper than ${MAX_DEPTH} levels`
    : (shallow.value as Fields);
}

/**
 * The route, or the problem with it. Both route shapes are accepted; if both are present, the new one wins. A `prev`
 * or `next` of `null` is an empty list.
 */
export function readRoute(text: JsonText | undefined): Route | string {
  if (text === undefined) return 'route is missing';
  const fields = readFields('route', text);
  if (typeof fields === 'string') return fields;
  const split = 'actors' in fields || 'current' in fields ? splitActors(fields) : fields;
  if (typeof split === 'string') return split;
  const { curr } = split;
  const prev = split['prev'] === null ? [] : split['prev'];
  const next = split['next'] === null ? [] : split['next'];
  const problem =
    namesProblem('route.prev', prev) ?? currentProblem(curr) ?? namesProblem('route.next', next);
  if (problem !== undefined) return problem;
  const route = split as unknown as Route;
  return prev === route.prev && next === route.next
    ? route
    : { ...route, prev: prev as string[], next: next as string[] };
}

/** Converts the older route shape: a list of all actors, and the index of the current one. */
function splitActors({ actors, current, ...rest }: Fields): Fields | string {
  const isNewShape = 'prev' in rest && 'curr' in rest && 'next' in rest;
  if (isNewShape || actors === undefined) return rest;
  const problem = namesProblem('route.actors', actors);
  if (problem !== undefined) return problem;
  const names = actors as readonly string[];
  if (!Number.isInteger(current) || (current as number) < 0 || (current as number) > names.length) {
    return `route.current is ${describeValue(current)}; expected a whole number from 0 to ${names.length}`;
  }
  const at = current as number;
  return { ...rest, prev: names.slice(0, at), curr: names[at] ?? '', next: names.slice(at + 1) };
}

function namesProblem(place: string, names: unknown): string | undefined {
  if (names === undefined) return `${place} is missing`;
  if (!Array.isArray(names)) return `${place} is ${describeValue(names)}; expected an array of actor names`;
  const wrong = names.findIndex((name) => !isRoutableName(name));
  return wrong < 0 ? undefined : nameProblem(`${place}[${wrong}]`, names[wrong]);
}

function currentProblem(curr: unknown): string | undefined {
  if (curr === undefined) return 'route.curr is missing';
  return curr === '' ? undefined : nameProblem('route.curr', curr);
}

/** Why a name may not be in a route; undefined if it may. */
export function nameProblem(place: string, name: unknown): string | undefined {
  if (!isActorName(name)) return `${place} is ${describeValue(name)}; ${ACTOR_NAME_RULE}`;
  return isReservedName(name)
    ? `${place} is "${name}"; ${RESERVED_NAME_RULE} and cannot be in a route`
    : undefined;
}

const TIMES = ['created_at', 'deadline_at'] as const;

/** The status, undefined if there is none, or the problem with it. */
export function readStatus(text: JsonText | undefined): Status | undefined | string {
  if (text === undefined || text === 'null') return undefined;
  const read = readFields('status', text);
  if (typeof read === 'string') return read;
  const fields = withoutNulls(read);
  const attempt = fields['attempt'];
  if (attempt !== undefined && (!Number.isInteger(attempt) || (attempt as number) < 1)) {
    return `status.attempt is ${describeValue(attempt)}; expected a whole number, 1 or more`;
  }
  for (const key of TIMES) {
    const value = fields[key];
    if (value !== undefined && instantMs(value) === undefined) {
      return `status.${key} is ${describeValue(value)}; ${TIMESTAMP_RULE}`;
    }
  }
  return withUtcTimes(fields as Status);
}

/** In a status, a key with the value `null` counts as absent. */
function withoutNulls(fields: Fields): Fields {
  for (const key in fields)
    if (fields[key] === null)
      return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  return fields;
}

/** The status with timestamps in UTC and the current name of its reason. Almost always nothing has to change. */
function withUtcTimes(status: Status): Status {
  const { created_at, deadline_at, reason } = status;
  const createdAt = created_at === undefined ? undefined : toUtcText(created_at);
  const deadlineAt = deadline_at === undefined ? undefined : toUtcText(deadline_at);
  const newReason = reasonFromText(reason);
  if (createdAt === created_at && deadlineAt === deadline_at && newReason === reason) return status;
  return {
    ...status,
    ...defined({ created_at: createdAt, deadline_at: deadlineAt, reason: newReason }),
  };
}
