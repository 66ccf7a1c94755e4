import { nameProblem } from '../envelope/decode-parts.ts';
import { type Fault, faultOf } from '../envelope/fault.ts';
import { defined } from '../text/defined.ts';
import { type Fields, isFields } from '../text/fields.ts';
import { describeJsonError, type Json, type JsonText, objectText, readJson } from '../text/json-text.ts';

/** One value that the runtime returned. It is sent to the next actor. */
export interface Frame {
  readonly payload: JsonText;
  /** Set if the handler rewrote the rest of the route. */
  readonly next?: readonly string[];
  /** Set if the handler returned headers. */
  readonly headers?: ReadonlyMap<string, JsonText>;
}

/** What a runtime answered. An answer that cannot be read counts as `unreachable`. */
export type Answer =
  | { readonly kind: 'frames'; readonly frames: readonly Frame[] }
  | { readonly kind: 'empty' }
  | { readonly kind: 'fault'; readonly fault: Fault }
  /** The answer has more than `ASYA_RUNTIME_MAX_RESPONSE` bytes and is not an error. The rest was not read. */
  | { readonly kind: 'too-large'; readonly detail: string }
  | {
      readonly kind: 'unreachable';
      readonly detail: string;
      /** The request did not reach the runtime, so calling again does not repeat any work. */
      readonly isUnsent?: true;
      /** The connection was lost during the call, possibly because the runtime's process ended. */
      readonly isLost?: true;
    };

/** `array`: each item of an array is a value of its own. `never`: an array is one value. */
export type FanOut = 'array' | 'never';

/** Reads an answer from the socket. Values and errors have no separate channel: an error is recognized by its shape. */
export function answerFromSocket(text: string, fanOut: FanOut): Answer {
  const value = mayContainError(text) ? undefined : objectText(text);
  if (value !== undefined) return { kind: 'frames', frames: [{ payload: value }] };
  const json = readJson(text);
  if (json.kind === 'invalid') return unreadable(text, json.at);
  const object = json.kind === 'object' && mayBeError(json.members) ? parsedFields(json.text) : undefined;
  return object !== undefined && isErrorObject(object)
    ? { kind: 'fault', fault: faultFromErrorObject(object) }
    : answerFromValue(json, fanOut);
}

/** Whether an object may have the key `error`, possibly written with escapes. */
function mayContainError(text: string): boolean {
  return text.includes('"error"') || text.includes('\\u');
}

/** A check without parsing: most answers are values, and they may be long. */
function mayBeError(members: ReadonlyMap<string, JsonText>): boolean {
  return members.get('error')?.startsWith('"') === true;
}

/** A runtime's HTTP response. */
export interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  /** The header `Retry-After`. */
  readonly retryAfter?: string;
  /** Set if the header `x-asya-route-next` rewrites the rest of the route. */
  readonly next?: readonly string[];
}

/** Reads an answer over HTTP. Only the HTTP status decides whether it is an error. */
export function answerFromHttp({ status, text, retryAfter, next }: HttpAnswer, fanOut: FanOut): Answer {
  if (status >= 400) return { kind: 'fault', fault: faultFromHttp(status, text, retryAfter) };
  if (status === 204) return { kind: 'empty' };
  const json = readJson(text);
  if (json.kind === 'invalid') return unreadable(text, json.at);
  const answer = answerFromValue(json, fanOut);
  if (next === undefined || answer.kind !== 'frames') return answer;
  return { kind: 'frames', frames: answer.frames.map((frame) => ({ ...frame, next })) };
}

/** A value: `null` and an empty list are empty, and each item of a list is a frame unless `fanOut` is `never`. */
export function answerFromValue(json: Json, fanOut: FanOut): Answer {
  if (json.text === 'null') return { kind: 'empty' };
  if (json.kind !== 'array' || fanOut === 'never')
    return { kind: 'frames', frames: [{ payload: json.text }] };
  if (json.items.length === 0) return { kind: 'empty' };
  return { kind: 'frames', frames: json.items.map((payload) => ({ payload })) };
}

function unreadable(text: string, at: number): Answer {
  return { kind: 'unreachable', detail: `the runtime's answer is not JSON: ${describeJsonError(text, at)}` };
}

/** Why a handler may not send to these actors; undefined if it may. */
export function nextProblem(
  next: readonly string[],
  allowed: ReadonlySet<string> | undefined,
): string | undefined {
  for (const [index, name] of next.entries()) {
    const place = `the handler's route.next[${index}]`;
    const problem = nameProblem(place, name);
    if (problem !== undefined) return problem;
    if (allowed !== undefined && !allowed.has(name)) {
      return `${place} is "${name}"; ASYA_ROUTE_ALLOW allows ${[...allowed].join(', ') || 'no actors'}`;
    }
  }
  return undefined;
}

function parsedFields(text: JsonText): Fields {
  return JSON.parse(text) as Fields;
}

function isErrorObject({ error, message, type, details }: Fields): boolean {
  if (typeof error !== 'string') return false;
  return (typeof message === 'string' && typeof type === 'string') || isFields(details);
}

/**
 * Reads a flat error object, or one with `details`. A field in `details` wins over the same field outside. Without a
 * type, `error` (the error code) is the type.
 */
export function faultFromErrorObject(object: Fields): Fault {
  const details = isFields(object['details']) ? object['details'] : {};
  const code = textOf(object['error']) || 'Error';
  const httpStatus = [details['http_status'], object['http_status']].find(isHttpStatus);
  const retryAfter = details['retry_after'] ?? object['retry_after'] ?? undefined;
  const mro = [details['mro'], object['mro']].find(Array.isArray) ?? [];
  return {
    type: textOf(details['type']) || textOf(object['type']) || code,
    mro: mro.filter((name) => typeof name === 'string'),
    message: textOf(details['message']) ?? textOf(object['message']) ?? code,
    traceback: textOf(details['traceback']) ?? textOf(object['traceback']) ?? '',
    ...defined({ httpStatus, retryAfter }),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function isHttpStatus(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 100 && (value as number) <= 599;
}

const MAX_EXCERPT_LENGTH = 200;

/**
 * The fault of an HTTP error response. Its HTTP status is the one in the error object. If there is none, it is the
 * status of the response, except for a 500 with an error object: runtimes answer every exception with 500.
 */
function faultFromHttp(status: number, text: string, retryAfter: string | undefined): Fault {
  const json = readJson(text);
  const object = json.kind === 'object' ? parsedFields(json.text) : {};
  const requestedDelay = defined({ retryAfter });
  if (typeof object['error'] !== 'string') {
    const excerpt = text === '' ? '' : `: ${text.slice(0, MAX_EXCERPT_LENGTH)}`;
    const fault = faultOf('HTTPError', `the runtime answered ${status}${excerpt}`, ['Exception']);
    return { ...fault, httpStatus: status, ...requestedDelay };
  }
  const isAnyException = status === 500 && isErrorObject(object);
  const ownStatus = isAnyException ? {} : { httpStatus: status };
  return { ...ownStatus, ...requestedDelay, ...faultFromErrorObject(object) };
}
