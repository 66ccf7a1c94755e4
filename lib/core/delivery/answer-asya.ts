import type { HandlerProgress } from '../envelope/handler-progress.ts';
import { defined } from '../text/defined.ts';
import { type Fields, isFields } from '../text/fields.ts';
import { type Json, type JsonText, readJson, stringFromJson } from '../text/json-text.ts';
import { type Answer, answerFromValue, type FanOut, type Frame, faultFromErrorObject } from './answer.ts';

/** The `asya:` protocol: a runtime answers with pairs of a JSON head and a body, the last of which ends the call. */
export type AnswerPart =
  /** One value of a generator. */
  | { readonly kind: 'item'; readonly frame: Frame }
  | { readonly kind: 'progress'; readonly progress: HandlerProgress }
  /** The call has ended. `answer` does not contain the items before it. */
  | { readonly kind: 'end'; readonly answer: Answer };

/** What a pair is about, on a connection that carries several calls. */
export interface PairSubject {
  readonly kind: string;
  /** The number of the call. Undefined if the pair belongs to none. */
  readonly call?: number;
}

/** Undefined if it is not the head of a pair. */
export function readPairSubject(head: string): PairSubject | undefined {
  const json = readJson(head);
  if (json.kind !== 'object') return undefined;
  const kind = stringFromJson(json.members.get('kind'));
  const call = json.members.get('call');
  if (kind === undefined || (call !== undefined && !/^[0-9]{1,15}$/.test(call))) return undefined;
  return call === undefined ? { kind } : { kind, call: Number(call) };
}

/** Whether a runtime that says with this head that it is ready ends a generator whose values are not wanted any more. */
export function mayStop(head: string): boolean {
  const json = readJson(head);
  return json.kind === 'object' && json.members.get('stop') === 'true';
}

/** Reads one pair. What cannot be read ends the call. */
export function readAnswerPart(head: string, body: string, fanOut: FanOut): AnswerPart {
  const json = readJson(head);
  if (json.kind !== 'object') return unreadable('a head is not a JSON object');
  const kind = stringFromJson(json.members.get('kind'));
  switch (kind) {
    case 'item':
      return itemFrom(json, body);
    case 'progress':
      return { kind: 'progress', progress: progressFrom(json, body) };
    case 'end':
      return endFrom(json, body, fanOut);
    case 'error':
      return errorFrom(body);
    default:
      return unreadable(
        `a head has the kind ${json.members.get('kind') ?? 'undefined'}; expected "item", "progress", "end" or "error"`,
      );
  }
}

/** The answer of a call: the items and the end. Items before an error are discarded, so a failed generator sends nothing. */
export function answerFromParts(items: readonly Frame[], end: Answer): Answer {
  if (items.length === 0 || end.kind === 'fault' || end.kind === 'unreachable') return end;
  if (end.kind === 'empty') return { kind: 'frames', frames: items };
  return {
    kind: 'unreachable',
    detail: `${CANNOT_BE_READ}: the end has a value, although items were sent before it`,
  };
}

type ObjectJson = Extract<Json, { kind: 'object' }>;

function itemFrom(head: ObjectJson, body: string): AnswerPart {
  const changes = changesFrom(head);
  if (typeof changes === 'string') return unreadable(changes);
  const json = readJson(body);
  if (json.kind === 'invalid') return unreadable('an item is not JSON');
  return { kind: 'item', frame: { payload: json.text, ...changes } };
}

function endFrom(head: ObjectJson, body: string, fanOut: FanOut): AnswerPart {
  if (body === '') return { kind: 'end', answer: { kind: 'empty' } };
  const changes = changesFrom(head);
  if (typeof changes === 'string') return unreadable(changes);
  const json = readJson(body);
  if (json.kind === 'invalid') return unreadable('the value of the end is not JSON');
  const answer = answerFromValue(json, fanOut);
  if (answer.kind !== 'frames') return { kind: 'end', answer };
  return {
    kind: 'end',
    answer: { kind: 'frames', frames: answer.frames.map((frame) => ({ ...frame, ...changes })) },
  };
}

function errorFrom(body: string): AnswerPart {
  const json = readJson(body);
  const object = json.kind === 'object' ? (JSON.parse(json.text) as Fields) : undefined;
  if (object === undefined || typeof object['error'] !== 'string')
    return unreadable('the body of an error is not an error object');
  return { kind: 'end', answer: { kind: 'fault', fault: faultFromErrorObject(object) } };
}

/** The route and the headers that the handler set, or the problem with them. Names are checked by the decision. */
function changesFrom({ members }: ObjectJson): Pick<Frame, 'next' | 'headers'> | string {
  const nextText = members.get('next');
  const next = nextText === undefined ? undefined : namesFrom(nextText);
  if (next === 'invalid') return '"next" in a head is not an array of names';
  const headersText = members.get('headers');
  const headers = headersText === undefined ? undefined : readJson(headersText);
  if (headers !== undefined && headers.kind !== 'object') return '"headers" in a head is not an object';
  return { ...defined({ next }), ...(headers !== undefined && { headers: headers.members }) };
}

function namesFrom(text: JsonText): readonly string[] | 'invalid' {
  const json = readJson(text);
  if (json.kind !== 'array') return 'invalid';
  const names = json.items.map(stringFromJson);
  return names.every((name) => name !== undefined) ? names : 'invalid';
}

/** Progress is best effort: a part of it that is not valid is left out. */
function progressFrom({ text }: ObjectJson, body: string): HandlerProgress {
  const fields: unknown = JSON.parse(text);
  const { percent, message } = isFields(fields) ? fields : {};
  const data = body === '' ? undefined : readJson(body);
  return {
    ...(typeof percent === 'number' && percent >= 0 && percent <= 100 && { percent }),
    ...(typeof message === 'string' && { message }),
    ...(data !== undefined && data.kind !== 'invalid' && { data: data.text }),
  };
}

const CANNOT_BE_READ = "the runtime's answer cannot be read";

function unreadable(problem: string): AnswerPart {
  return { kind: 'end', answer: { kind: 'unreachable', detail: `${CANNOT_BE_READ}: ${problem}` } };
}
