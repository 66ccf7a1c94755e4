import { defined } from '../text/defined.ts';
import { excerpt } from '../text/describe-value.ts';
import { describeJsonError, type JsonText, jsonText, readJson, stringFromJson } from '../text/json-text.ts';
import { instantMs, TIMESTAMP_RULE, toUtcText } from '../text/timestamp.ts';
import { base64FromBytes, textFromUtf8 } from '../text/utf8.ts';
import { ACTOR_NAME_RULE, isRoutableName, RESERVED_NAME_RULE } from './actor-name.ts';
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
import { type EnvelopeTexts, splitUsualLayout } from './usual-layout.ts';

/** Derives an id from parts: equal parts give equal ids. It is passed in, because the core contains no hash function. */
export type DeriveId = (...parts: readonly (string | number)[]) => string;

/** A decoded message body. */
export type Arrival =
  | { readonly kind: 'readable'; readonly envelope: Envelope }
  | {
      readonly kind: 'unreadable';
      readonly reason: 'ParseError' | 'ValidationError';
      readonly problem: string;
      /** An envelope for x-sink: what could be read, with the original body as its payload. */
      readonly envelope: Envelope;
    };

/** Where a message came from. */
export interface Origin {
  /** The actor that received the message. */
  readonly actor: string;
  /** The broker's id of the message. It is the same when the broker delivers the message again. */
  readonly messageId: string;
  readonly deriveId: DeriveId;
}

type Members = ReadonlyMap<string, JsonText>;

const KNOWN_KEYS: ReadonlySet<string> = new Set(['id', 'parent_id', 'route', 'headers', 'payload', 'status']);

/**
 * Reads a message body into an envelope. If that is not possible, `problem` names the invalid field and its value.
 * Total: no input makes it throw.
 */
export function decode(body: string | Uint8Array, origin: Origin): Arrival {
  const text = typeof body === 'string' ? body : textFromUtf8(body);
  if (text?.isWellFormed() !== true) return unparsable(body, 'the body is not UTF-8', origin);
  const usual = readUsualLayout(text);
  if (usual !== undefined) return { kind: 'readable', envelope: usual };
  const json = readJson(text);
  if (json.kind === 'invalid')
    return unparsable(text, `the body is not JSON: ${describeJsonError(text, json.at)}`, origin);
  if (json.kind !== 'object') {
    return unreadable(
      'ValidationError',
      `the body is ${json.kind === 'array' ? 'an array' : 'a single value'}; expected an object`,
      text,
      new Map(),
      origin,
    );
  }
  const reading = readEnvelope(textsFrom(json.members), extraOf(json.members));
  return typeof reading === 'string'
    ? unreadable('ValidationError', reading, text, json.members, origin)
    : { kind: 'readable', envelope: reading };
}

/** Undefined if the body has another layout, or a problem: then it is read again, to name the problem. */
function readUsualLayout(text: string): Envelope | undefined {
  const texts = splitUsualLayout(text);
  if (texts === undefined) return undefined;
  try {
    const reading = readEnvelope(texts, NO_EXTRA);
    return typeof reading === 'string' ? undefined : reading;
  } catch {
    return undefined;
  }
}

function textsFrom(members: Members): EnvelopeTexts {
  return {
    id: members.get('id'),
    parentId: members.get('parent_id'),
    route: members.get('route'),
    headers: members.get('headers'),
    payload: members.get('payload'),
    status: members.get('status'),
  };
}

/** The envelope, or the problem with it. */
function readEnvelope(texts: EnvelopeTexts, extra: Members): Envelope | string {
  const id = stringFromJson(texts.id);
  if (id === undefined || id === '') return fieldProblem('id', texts.id, 'a non-empty string');
  const parent = texts.parentId;
  const parentId = parent === 'null' ? undefined : stringFromJson(parent);
  if (parent !== undefined && parent !== 'null' && !parentId)
    return fieldProblem('parent_id', parent, 'a non-empty string');
  const { payload } = texts;
  if (payload === undefined) return 'payload is missing';
  const route = readRoute(texts.route);
  if (typeof route === 'string') return route;
  const allHeaders = readHeaders(texts.headers);
  if (typeof allHeaders === 'string') return allHeaders;
  const ownStatus = readStatus(texts.status);
  if (typeof ownStatus === 'string') return ownStatus;
  const status = withDeadlineFrom(allHeaders, ownStatus);
  const headers = withoutHeader(allHeaders, DEADLINE_AT);
  // Almost every envelope has a status and no parent.
  if (parentId === undefined && status !== undefined) return { id, route, headers, payload, status, extra };
  return {
    id,
    ...defined({ parent_id: parentId }),
    route,
    headers,
    payload,
    ...defined({ status }),
    extra,
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

function fieldProblem(field: string, value: JsonText | undefined, expected: string): string {
  return value === undefined ? `${field} is missing` : `${field} is ${excerpt(value)}; expected ${expected}`;
}

function readHeaders(text: JsonText | undefined): Headers | string {
  if (text === undefined || text === 'null') return NO_HEADERS;
  const json = readJson(text);
  if (json.kind !== 'object') return `headers is ${excerpt(text)}; expected an object`;
  for (const name of [DEADLINE_AT, NOT_BEFORE]) {
    const value = json.members.get(name);
    if (value !== undefined && instantMs(stringFromJson(value)) === undefined) {
      return `headers.${name} is ${excerpt(value)}; ${TIMESTAMP_RULE}`;
    }
  }
  const onError = json.members.get(ON_ERROR);
  if (onError !== undefined && !isRoutableName(stringFromJson(onError))) {
    return `headers.${ON_ERROR} is ${excerpt(onError)}; ${ACTOR_NAME_RULE}; ${RESERVED_NAME_RULE}`;
  }
  return json.members;
}

/** Moves the deadline from its older place, a header, to the status. If both are present, the status wins. */
function withDeadlineFrom(headers: Members, status: Status | undefined): Status | undefined {
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
    // Reserved names are not valid in a route: the next reader would reject the envelope.
    route: { prev: [], curr: isRoutableName(origin.actor) ? origin.actor : '', next: [] },
    headers: correlationHeaders(savedHeaders),
    payload: payloadFromRaw(body),
    ...(deadline !== undefined && { status: { deadline_at: deadline } }),
    extra: new Map(),
  };
  return { kind: 'unreadable', reason, problem, envelope };
}

/** The original body as a payload: as text, or in base64 if it is not UTF-8. */
function payloadFromRaw(body: string | Uint8Array): JsonText {
  return typeof body === 'string'
    ? (`{"raw":${jsonText(body)}}` as JsonText)
    : (`{"raw_base64":"${base64FromBytes(body)}"}` as JsonText);
}

/** The first valid deadline of an envelope that is otherwise unreadable. */
function readableDeadline(status: JsonText | undefined, headers: Members): string | undefined {
  const json = readJson(status ?? '');
  const candidates = [
    json.kind === 'object' ? json.members.get(DEADLINE_AT) : undefined,
    headers.get(DEADLINE_AT),
  ];
  const readable = candidates.map(stringFromJson).find((text) => instantMs(text) !== undefined);
  return readable === undefined ? undefined : toUtcText(readable);
}
