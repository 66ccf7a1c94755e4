import type { Route } from '../envelope/envelope.ts';
import { type Fault, faultOf } from '../envelope/fault.ts';
import { defined } from '../text/defined.ts';
import { type JsonText, readJson, shallowValueFromJson } from '../text/json-text.ts';
import {
  type Answer,
  answerFromHttp,
  answerFromSocket,
  type Frame,
  faultFromErrorObject,
  type HttpAnswer,
} from './answer.ts';

/** The envelope protocol: the runtime receives the whole envelope and answers with frames or a stream of frames. */

const MAX_ROUTE_DEPTH = 64;

/** Reads `{"frames":[...]}`, `null` or an error object. */
export function answerFromFrames(text: string, route: Route): Answer {
  const json = readJson(text);
  const list = json.kind === 'object' ? json.members.get('frames') : undefined;
  const frames = list === undefined ? undefined : readJson(list);
  if (frames?.kind === 'array') return answerFromTexts(frames.items, route);
  const answer = answerFromSocket(text, 'never');
  return answer.kind === 'frames' ? unreadable('expected {"frames":[...]}, null or an error object') : answer;
}

/** Reads the same answers over HTTP, where the HTTP status identifies an error. */
export function answerFromFramesOverHttp(answer: HttpAnswer, route: Route): Answer {
  const { status, text } = answer;
  return status >= 400 || status === 204 ? answerFromHttp(answer, 'never') : answerFromFrames(text, route);
}

/**
 * Reads a stream of `upstream`, `downstream`, `error` and `done` events. The answer is the frames of its `downstream`
 * events. A stream without `done` may be incomplete, so it counts as failed. `upstream` events are not for the next
 * actor and are ignored here.
 */
export function answerFromEventStream(text: string, route: Route): Answer {
  const events = eventsFromText(text);
  const error = events.find(({ name }) => name === 'error');
  if (error !== undefined) return { kind: 'fault', fault: faultFromEvent(error.data) };
  if (!events.some(({ name }) => name === 'done')) return unreadable('the event stream ended without "done"');
  const frames = events.filter(({ name }) => name === 'downstream').map(({ data }) => data as JsonText);
  return answerFromTexts(frames, route);
}

/** A fault from an `error` event. It has an HTTP status only if the error object contains one. */
function faultFromEvent(data: string): Fault {
  const json = readJson(data);
  return json.kind === 'object'
    ? faultFromErrorObject(JSON.parse(json.text))
    : faultOf('StreamError', data, ['Exception']);
}

function answerFromTexts(texts: readonly JsonText[], route: Route): Answer {
  const frames: Frame[] = [];
  for (const [index, text] of texts.entries()) {
    const frame = frameFromText(text, route);
    if (typeof frame === 'string') return unreadable(`frame ${index} ${frame}`);
    frames.push(frame);
  }
  return frames.length === 0 ? { kind: 'empty' } : { kind: 'frames', frames };
}

/** The frame, or the problem with it. */
function frameFromText(text: JsonText, route: Route): Frame | string {
  const json = readJson(text);
  if (json.kind !== 'object') return 'is not an object';
  const payload = json.members.get('payload');
  if (payload === undefined) return 'has no payload';
  const routeText = json.members.get('route');
  const next = routeText === undefined ? undefined : nextFromRoute(routeText, route);
  if (typeof next === 'string') return next;
  const headersText = json.members.get('headers');
  const headers = headersText === undefined || headersText === 'null' ? undefined : readJson(headersText);
  if (headers !== undefined && headers.kind !== 'object') return 'has headers that are not an object';
  return {
    payload,
    ...defined({ next }),
    ...(headers !== undefined && { headers: headers.members }),
  };
}

/** The actors after this one. The runtime may have advanced the route itself: then `prev` is longer than before. */
function nextFromRoute(text: JsonText, given: Route): readonly string[] | string {
  const parsed = shallowValueFromJson(text, MAX_ROUTE_DEPTH)?.value as
    | { readonly [Key in keyof Route]?: Route[Key] | null }
    | null
    | undefined;
  const { curr } = parsed ?? {};
  const prev = parsed?.prev === null ? [] : parsed?.prev;
  const next = parsed?.next === null ? [] : parsed?.next;
  if (!Array.isArray(prev) || typeof curr !== 'string' || !Array.isArray(next))
    return 'has a route without prev, curr and next';
  if (prev.length <= given.prev.length) return next;
  return curr === '' ? next : [curr, ...next];
}

function unreadable(detail: string): Answer {
  return { kind: 'unreachable', detail: `the runtime's answer cannot be read: ${detail}` };
}

interface ServerEvent {
  readonly name: string;
  readonly data: string;
}

/** Parses server-sent events. Text after the last blank line is an incomplete event and is ignored. */
function eventsFromText(text: string): readonly ServerEvent[] {
  const blocks = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n').split('\n\n');
  return blocks.slice(0, -1).map((block) => {
    const fields = block.split('\n').map(fieldFromLine);
    const valuesOf = (name: string) =>
      fields.filter((field) => field.name === name).map(({ value }) => value);
    return { name: valuesOf('event').at(-1) ?? 'message', data: valuesOf('data').join('\n') };
  });
}

function fieldFromLine(line: string): { name: string; value: string } {
  const colon = line.indexOf(':');
  if (colon < 0) return { name: line, value: '' };
  const value = line.slice(colon + 1);
  return { name: line.slice(0, colon), value: value.startsWith(' ') ? value.slice(1) : value };
}

/** Reads the response header `x-asya-route-next`, for example `a,b`. An empty header is the end of the route. */
export function nextFromHeader(value: string): readonly string[] {
  return value.trim() === '' ? [] : value.split(',').map((name) => name.trim());
}
