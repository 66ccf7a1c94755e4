import { defined } from '../text/defined.ts';
import { excerpt } from '../text/describe-value.ts';
import { describeJsonError, type JsonText, jsonText, readJson, stringFromJson } from '../text/json-text.ts';
import { instantMs, TIMESTAMP_RULE, toUtcText } from '../text/timestamp.ts';
import { base64FromBytes, textFromUtf8 } from '../text/utf8.ts';
import { ACTOR_NAME_RULE, isRoutableName } from './actor-name.ts';
import { readRoute, readStatus } from './decode-parts.ts';
import type { Envelope, Headers, Status } from './envelope.ts';
import {
  correlationHeaders,
  DEADLINE_AT,
  NO_HEADERS,
  NOT_BEFORE,
  ON_ERROR,
  withoutHeader,
} from './headers.ts';

/** Makes an id out of parts: the same parts give the same id, others another. Handed in, because hashing is. */
export type DeriveId = (...parts: readonly (string | number)[]) => string;

export type Arrival =
  | { readonly kind: 'readable'; readonly envelope: Envelope }
  | {
      readonly kind: 'unreadable';
      readonly reason: 'ParseError' | 'ValidationError';
      readonly problem: string;
      /** What could be saved of it, with all that came in the payload. */
      readonly envelope: Envelope;
    };

export interface Origin {
  /** The actor that received it. */
  readonly actor: string;
  /** The broker's id of the message: the same when it delivers again. */
  readonly messageId: string;
  readonly deriveId: DeriveId;
}

type Members = ReadonlyMap<string, JsonText>;

const KNOWN_KEYS: ReadonlySet<string> = new Set(['id', 'parent_id', 'route', 'headers', 'payload', 'status']);

/** Bytes to envelope, or a problem that says which field is wrong and what came. Total: no input makes it throw. */
export function decode(body: string | Uint8Array, origin: Origin): Arrival {
  const text = typeof body === 'string' ? body : textFromUtf8(body);
  if (text?.isWellFormed() !== true) return unparsable(body, 'the body is not UTF-8', origin);
  const json = readJson(text);
  if (json.kind === 'invalid')
    return unparsable(text, `the body is not JSON: ${describeJsonError(text, json.at)}`, origin);
  if (json.kind !== 'object') {
    return unreadable(
      'ValidationError',
      `the body is ${json.kind === 'array' ? 'an array' : 'a single value'}, not an object`,
      text,
      new Map(),
      origin,
    );
  }
  const reading = readEnvelope(json.members);
  return typeof reading === 'string'
    ? unreadable('ValidationError', reading, text, json.members, origin)
    : { kind: 'readable', envelope: reading };
}

/** The envelope, or what is wrong with it. */
function readEnvelope(members: Members): Envelope | string {
  const id = stringFromJson(members.get('id'));
  if (id === undefined || id === '') return fieldProblem(members, 'id', 'a string with something in it');
  const parent = members.get('parent_id');
  const parentId = parent === 'null' ? undefined : stringFromJson(parent);
  if (parent !== undefined && parent !== 'null' && !parentId)
    return fieldProblem(members, 'parent_id', 'an id');
  const payload = members.get('payload');
  if (payload === undefined) return 'payload is missing';
  const route = readRoute(members.get('route'));
  if (typeof route === 'string') return route;
  const headers = readHeaders(members.get('headers'));
  if (typeof headers === 'string') return headers;
  const ownStatus = readStatus(members.get('status'));
  if (typeof ownStatus === 'string') return ownStatus;
  const status = withDeadlineOf(headers, ownStatus);
  return {
    id,
    ...defined({ parent_id: parentId }),
    route,
    headers: withoutHeader(headers, DEADLINE_AT),
    payload,
    ...defined({ status }),
    extra: extraOf(members),
  };
}

const NO_EXTRA: Members = new Map();

function extraOf(members: Members): Members {
  let extra: Map<string, JsonText> | undefined;
  for (const [key, value] of members) {
    if (!KNOWN_KEYS.has(key)) extra = (extra ?? new Map<string, JsonText>()).set(key, value);
  }
  return extra ?? NO_EXTRA;
}

function fieldProblem(members: Members, field: string, right: string): string {
  const came = members.get(field);
  return came === undefined ? `${field} is missing` : `${field} is ${excerpt(came)}, not ${right}`;
}

function readHeaders(text: JsonText | undefined): Headers | string {
  if (text === undefined || text === 'null') return NO_HEADERS;
  const json = readJson(text);
  if (json.kind !== 'object') return `headers is ${excerpt(text)}, not an object`;
  for (const name of [DEADLINE_AT, NOT_BEFORE]) {
    const value = json.members.get(name);
    if (value !== undefined && instantMs(stringFromJson(value)) === undefined) {
      return `headers.${name} is ${excerpt(value)}; ${TIMESTAMP_RULE}`;
    }
  }
  const onError = json.members.get(ON_ERROR);
  if (onError !== undefined && !isRoutableName(stringFromJson(onError))) {
    return `headers.${ON_ERROR} is ${excerpt(onError)}; ${ACTOR_NAME_RULE}, and none of the mesh's own (x-...)`;
  }
  return json.members;
}

/** The header of that name is the older place; where both stand, the status counts. */
function withDeadlineOf(headers: Members, status: Status | undefined): Status | undefined {
  const deadline = stringFromJson(headers.get(DEADLINE_AT));
  if (deadline === undefined || status?.deadline_at !== undefined) return status;
  return { ...status, deadline_at: toUtcText(deadline) };
}

function unparsable(body: string | Uint8Array, problem: string, origin: Origin): Arrival {
  return unreadable('ParseError', problem, body, new Map(), origin);
}

function unreadable(
  reason: 'ParseError' | 'ValidationError',
  problem: string,
  body: string | Uint8Array,
  members: Members,
  origin: Origin,
): Arrival {
  const parentId = stringFromJson(members.get('parent_id'));
  const headers = readJson(members.get('headers') ?? '');
  const savedHeaders: Members = headers.kind === 'object' ? headers.members : NO_HEADERS;
  const deadline = readableDeadline(members.get('status'), savedHeaders);
  const envelope: Envelope = {
    id: stringFromJson(members.get('id')) || origin.deriveId('unreadable', origin.actor, origin.messageId),
    ...(parentId ? { parent_id: parentId } : {}),
    // One of the crew never stands in a route: whoever reads this next would refuse it.
    route: { prev: [], curr: isRoutableName(origin.actor) ? origin.actor : '', next: [] },
    headers: correlationHeaders(savedHeaders),
    payload: payloadFromRaw(body),
    ...(deadline !== undefined && { status: { deadline_at: deadline } }),
    extra: new Map(),
  };
  return { kind: 'unreadable', reason, problem, envelope };
}

/** All that came, whatever it was. */
function payloadFromRaw(body: string | Uint8Array): JsonText {
  return typeof body === 'string'
    ? (`{"raw":${jsonText(body)}}` as JsonText)
    : (`{"raw_base64":"${base64FromBytes(body)}"}` as JsonText);
}

function readableDeadline(status: JsonText | undefined, headers: Members): string | undefined {
  const json = readJson(status ?? '');
  const candidates = [
    json.kind === 'object' ? json.members.get(DEADLINE_AT) : undefined,
    headers.get(DEADLINE_AT),
  ];
  const readable = candidates.map(stringFromJson).find((text) => instantMs(text) !== undefined);
  return readable === undefined ? undefined : toUtcText(readable);
}
