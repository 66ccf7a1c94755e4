import fc from 'fast-check';
import type { Actor, Limits } from '../../../lib/core/delivery/actor.ts';
import { answerFromHttp, answerFromSocket, type Frame } from '../../../lib/core/delivery/answer.ts';
import type { CallResult } from '../../../lib/core/delivery/outcome.ts';
import { defined } from '../../../lib/core/text/defined.ts';
import type { JsonText } from '../../../lib/core/text/json-text.ts';
import { type DeliveryParams, deliveryParams, type Flaw, SINK } from './arbitraries.ts';
import { bodyText } from './body-text.ts';
import { faultFrom, retryAfterFrom } from './policy-arbitraries.ts';
import { ACTOR, type Written, writtenFrom } from './written.ts';

export interface Delivery {
  readonly body: string | Uint8Array;
  readonly written: Written;
  readonly actor: Actor;
  readonly limits: Limits;
  readonly now: number;
  /** The duration of the call. The decision is made that much later. */
  readonly elapsedMs: number;
  readonly hostTimeLeftMs: number;
  readonly random: number;
  readonly end: CallResult;
}

/** Deliveries of all kinds. `narrowed` restricts some parameters. */
export function deliveries(
  narrowed: { readonly [K in keyof DeliveryParams]?: fc.Arbitrary<DeliveryParams[K]> } = {},
): fc.Arbitrary<Delivery> {
  return fc.record({ ...deliveryParams, ...narrowed } as typeof deliveryParams).map(deliveryFrom);
}

function deliveryFrom(drawn: DeliveryParams): Delivery {
  const given = { ...drawn, ...consequencesOf(drawn.flaw) };
  const actor = actorFrom(given);
  const written = writtenFrom(given, actor);
  const text = bodyText(given, actor, written);
  const maxBodyBytes =
    given.bodyRoom === undefined
      ? Number.POSITIVE_INFINITY
      : Math.max(1, Buffer.byteLength(text, 'utf8') + given.bodyRoom);
  return {
    body: given.asBytes ? new Uint8Array(Buffer.from(text, 'utf8')) : text,
    written,
    actor,
    limits: { maxDelayMs: given.maxDelayMs, maxBodyBytes },
    now: given.now,
    elapsedMs: given.elapsedMs,
    hostTimeLeftMs: actor.timeoutMs + given.hostTimeLeft,
    random: given.random,
    end: endFrom(given),
  };
}

/** A defect may affect other fields: for example, an invalid status cannot contain a deadline. */
function consequencesOf(flaw: Flaw | undefined): Partial<DeliveryParams> {
  switch (flaw) {
    case undefined:
      return {};
    case 'headers-array':
      return { decoys: false, hasStatus: true, deadlineIn: 'status' };
    case 'status-array':
      return { decoys: false, hasStatus: false, deadlineIn: 'header' };
    case 'cut-short':
    case 'not-object':
      return { decoys: false, deadline: undefined, parentId: undefined, gap: '' };
    case 'bad-deadline':
      return { decoys: false, deadline: undefined };
    default:
      return { decoys: false };
  }
}

function actorFrom(given: DeliveryParams): Actor {
  const { isEnd, endActor, timeoutMs, maxHops, fanOut, routeAllow, mainName, mainPolicy, otherPolicy } =
    given;
  const policies = new Map([
    [mainName, mainPolicy],
    ['other', otherPolicy],
  ]);
  return {
    name: isEnd ? endActor : ACTOR,
    sink: SINK,
    isEnd,
    timeoutMs,
    maxHops,
    fanOut,
    ...(routeAllow !== undefined && { routeAllow: new Set(routeAllow) }),
    resiliency: { policies, rules: given.rules },
  };
}

function endFrom({ end, fanOut, now, elapsedMs }: DeliveryParams): CallResult {
  switch (end.kind) {
    case 'frames':
      return { kind: 'frames', frames: end.frames.map(frameFrom) };
    case 'socket':
      return answerFromSocket(end.text, fanOut);
    case 'http': {
      const { status, text, next, pause } = end;
      const retryAfter = pause === undefined ? undefined : String(retryAfterFrom(pause, now + elapsedMs));
      const optional = { ...(next && { next }), ...defined({ retryAfter }) };
      return answerFromHttp({ status, text, ...optional }, fanOut);
    }
    case 'fault':
      return { kind: 'fault', fault: faultFrom(end.object, retryAfterFrom(end.pause, now + elapsedMs)) };
    case 'unreachable':
      return { kind: 'unreachable', detail: 'connection refused' };
    default:
      return { kind: end.kind };
  }
}

function frameFrom({
  payload,
  next,
  headers,
}: Extract<DeliveryParams['end'], { kind: 'frames' }>['frames'][0]): Frame {
  return {
    payload: payload as JsonText,
    ...defined({ next }),
    ...(headers !== undefined && { headers: new Map(headers as [string, JsonText][]) }),
  };
}
