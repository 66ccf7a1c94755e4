import { ACTOR_NAME_RULE, isRoutableName } from '../envelope/actor-name.ts';
import type { Envelope, Status } from '../envelope/envelope.ts';
import { childId, withFanOut, withoutFanOuts } from '../envelope/fan-out.ts';
import { faultOf } from '../envelope/fault.ts';
import { headersFromHandler, ON_ERROR } from '../envelope/headers.ts';
import { hopOf, shiftRoute } from '../envelope/route.ts';
import { type ArrivedEnvelope, statusAfter } from '../envelope/status.ts';
import { excerpt } from '../text/describe-value.ts';
import { stringFromJson } from '../text/json-text.ts';
import { exceedsUtf8Bytes, utf8Bytes } from '../text/utf8.ts';
import { type Frame, nextProblem } from './answer.ts';
import type { Context } from './context.ts';
import { planFailure } from './decide-failure.ts';
import { ackAfter, type Dispatch, dispatchOf, failedFact, type Plan, resultFact } from './plan.ts';

/** Sends each value to the next actor, or to x-sink at the end of the route, in an envelope of its own. */
export function planFrames(envelope: ArrivedEnvelope, frames: readonly Frame[], context: Context): Plan {
  for (const frame of frames) {
    const problem = rewriteProblem(envelope, frame, context);
    if (problem !== undefined) {
      return planFailure(envelope, context, {
        reason: 'ValidationError',
        fault: faultOf('ValidationError', problem),
        facts: [failedFact('validation_error')],
      });
    }
  }
  const dispatches = frames.map((frame, index) =>
    frameDispatch(envelope, frame, { index, items: frames.length }, context),
  );
  const tooLarge = dispatches.find(({ body }) =>
    exceedsUtf8Bytes(body, context.limits.maxBodyBytes, context.countBytes),
  );
  if (tooLarge !== undefined) {
    const message = `the result needs a message of ${utf8Bytes(tooLarge.body)} bytes; the transport allows ${context.limits.maxBodyBytes}`;
    return planTooLarge(envelope, message, context);
  }
  return ackAfter(dispatches, [resultFact('success')]);
}

/** The result is too large to be sent, or to be read from the runtime. A retry would not make it smaller. */
export function planTooLarge(envelope: ArrivedEnvelope, message: string, context: Context): Plan {
  return planFailure(envelope, context, {
    reason: 'RuntimeError',
    fault: faultOf('PayloadTooLarge', message),
    facts: [failedFact('runtime_error')],
  });
}

/** Why the handler's headers or route are not valid. An unchanged route is not checked: it was allowed before. */
function rewriteProblem(envelope: Envelope, { next, headers }: Frame, context: Context): string | undefined {
  const onError = headers?.get(ON_ERROR);
  if (onError !== undefined && !isRoutableName(stringFromJson(onError))) {
    return `the handler's header ${ON_ERROR} is ${excerpt(onError)}; ${ACTOR_NAME_RULE}`;
  }
  const { next: planned } = envelope.route;
  if (
    next === undefined ||
    (next.length === planned.length && next.every((name, index) => name === planned[index]))
  ) {
    return undefined;
  }
  return nextProblem(next, context.actor.routeAllow);
}

/** Which of the handler's values it is, and how many there are. */
interface FramePlace {
  readonly index: number;
  readonly items: number;
}

function frameDispatch(
  envelope: ArrivedEnvelope,
  frame: Frame,
  { index, items }: FramePlace,
  context: Context,
): Dispatch {
  const { actor, now } = context;
  const route = shiftRoute(envelope.route, frame.next ?? envelope.route.next);
  const isAtEnd = route.curr === '';
  const status = isAtEnd
    ? statusAfter(envelope.status, { phase: 'succeeded', reason: 'Completed', actor: actor.name, now })
    : statusAfter(envelope.status, { phase: 'pending', actor: actor.name, now });
  const sent: Envelope = {
    ...envelope,
    route,
    headers:
      frame.headers === undefined ? envelope.headers : headersFromHandler(envelope.headers, frame.headers),
    payload: frame.payload,
    ...familyOf(envelope, status, { index, items }, context),
  };
  return isAtEnd ? dispatchOf(actor.sink, 'sink', sent) : dispatchOf(route.curr, 'next', sent);
}

/** Item 0 keeps the id, and its status contains the number of children. Each other item is a child of its own. */
function familyOf(
  envelope: Envelope,
  status: Status,
  { index, items }: FramePlace,
  { actor, deriveId }: Context,
): Pick<Envelope, 'status'> & Partial<Pick<Envelope, 'id' | 'parent_id'>> {
  if (items === 1) return { status };
  const fanOut = { actor: actor.name, hop: hopOf(envelope.route), items };
  if (index === 0) return { status: withFanOut(status, fanOut) };
  return {
    id: childId(envelope.id, fanOut, index, deriveId),
    parent_id: envelope.id,
    status: withoutFanOuts(status),
  };
}
