import { complainOfName } from './decode-parts.ts';
import { type Fault, faultOf } from './fault.ts';
import { describeBreak, type Json, type JsonText, readJson } from './json-text.ts';

/** One value that a runtime gave, to be sent on. */
export interface Frame {
  readonly payload: JsonText;
  /** Where the handler rewrote the rest of the route. */
  readonly next?: readonly string[];
  /** Where the handler answered headers of its own. */
  readonly headers?: ReadonlyMap<string, JsonText>;
}

/** What a runtime said; what cannot be read is as good as no connection. */
export type Answer =
  | { readonly kind: 'frames'; readonly frames: readonly Frame[] }
  | { readonly kind: 'empty' }
  | { readonly kind: 'fault'; readonly fault: Fault }
  | { readonly kind: 'unreachable'; readonly detail: string };

/** `array`: an array is many values. `never`: it is one. */
export type FanOut = 'array' | 'never';

/** A frame from the socket: values and errors come the same way, so an error is told by its shape. */
export function answerFromSocket(text: string, fanOut: FanOut): Answer {
  const json = readJson(text);
  if (json.kind === 'broken') return unreadable(text, json.at);
  const object = json.kind === 'object' ? parsedFields(json.text) : undefined;
  return object !== undefined && isErrorObject(object)
    ? { kind: 'fault', fault: faultFromErrorObject(object) }
    : answerFromValue(json, fanOut);
}

/** A response of the runtime over HTTP: its status alone tells an error. */
export function answerFromHttp(
  status: number,
  text: string,
  fanOut: FanOut,
  next?: readonly string[],
): Answer {
  if (status >= 400) return { kind: 'fault', fault: faultFromHttp(status, text) };
  if (status === 204) return { kind: 'empty' };
  const json = readJson(text);
  if (json.kind === 'broken') return unreadable(text, json.at);
  const answer = answerFromValue(json, fanOut);
  if (next === undefined || answer.kind !== 'frames') return answer;
  return { kind: 'frames', frames: answer.frames.map((frame) => ({ ...frame, next })) };
}

function answerFromValue(json: Json, fanOut: FanOut): Answer {
  if (json.text === 'null') return { kind: 'empty' };
  if (json.kind !== 'array' || fanOut === 'never')
    return { kind: 'frames', frames: [{ payload: json.text }] };
  if (json.items.length === 0) return { kind: 'empty' };
  return { kind: 'frames', frames: json.items.map((payload) => ({ payload })) };
}

function unreadable(text: string, at: number): Answer {
  return { kind: 'unreachable', detail: `the runtime's answer is not JSON: ${describeBreak(text, at)}` };
}

/** Why a handler may not send on to these actors; undefined where it may. */
export function complainOfNext(
  next: readonly string[],
  allowed: ReadonlySet<string> | undefined,
): string | undefined {
  for (const [index, name] of next.entries()) {
    const place = `the handler's route.next[${index}]`;
    const complaint = complainOfName(place, name);
    if (complaint !== undefined) return complaint;
    if (allowed !== undefined && !allowed.has(name)) {
      return `${place} is "${name}", which may not follow here; allowed: ${[...allowed].join(', ') || 'nobody'}`;
    }
  }
  return undefined;
}

type Fields = Readonly<Record<string, unknown>>;

function parsedFields(text: JsonText): Fields {
  return JSON.parse(text) as Fields;
}

function isErrorObject({ error, message, type, details }: Fields): boolean {
  if (typeof error !== 'string') return false;
  return (typeof message === 'string' && typeof type === 'string') || isFields(details);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Flat or nested; what is missing inside is looked for outside, and without a type the code is the type. */
export function faultFromErrorObject(object: Fields): Fault {
  const details = isFields(object['details']) ? object['details'] : {};
  const pick = (key: string): unknown => details[key] ?? object[key];
  const code = firstText(object['error']) ?? 'Error';
  const mro = pick('mro');
  const httpStatus = pick('http_status');
  const retryAfter = pick('retry_after');
  return {
    type: firstText(pick('type')) || code,
    mro: Array.isArray(mro) ? mro.filter((name) => typeof name === 'string') : [],
    message: firstText(pick('message')) ?? code,
    traceback: firstText(pick('traceback')) ?? '',
    ...(isHttpStatus(httpStatus) ? { httpStatus } : {}),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  };
}

function firstText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function isHttpStatus(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 100 && (value as number) <= 599;
}

/**
 * A runtime's own error object says by itself whether an HTTP status belongs to it: the 500 it comes with is only
 * the envelope it came in. Any other service means its status.
 */
function faultFromHttp(status: number, text: string): Fault {
  const json = readJson(text);
  const object = json.kind === 'object' ? parsedFields(json.text) : undefined;
  if (object !== undefined && typeof object['error'] === 'string') {
    const fault = faultFromErrorObject(object);
    return isErrorObject(object) ? fault : { httpStatus: status, ...fault };
  }
  return { ...faultOf('HTTPError', `the runtime answered ${status}`, ['Exception']), httpStatus: status };
}
