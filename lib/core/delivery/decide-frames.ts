import { ACTOR_NAME_RULE, isRoutableName } from '../envelope/actor-name.ts';
import type { Envelope } from '../envelope/envelope.ts';
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

/** On along the route, each value in an envelope of its own. */
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
  const dispatches = frames.map((frame, index) => frameDispatch(envelope, frame, index, context));
  const tooBig = dispatches.find(({ body }) =>
    exceedsUtf8Bytes(body, context.limits.maxBodyBytes, context.countBytes),
  );
  if (tooBig !== undefined) {
    const message = `the result makes a message of ${utf8Bytes(tooBig.body)} bytes; ${context.limits.maxBodyBytes} are allowed`;
    return planTooLarge(envelope, message, context);
  }
  return ackAfter(dispatches, [resultFact('success')]);
}

/** A result that cannot be sent on, or that the runtime client refused to read: a retry would not make it smaller. */
export function planTooLarge(envelope: ArrivedEnvelope, message: string, context: Context): Plan {
  return planFailure(envelope, context, {
    reason: 'RuntimeError',
    fault: faultOf('PayloadTooLarge', message),
    facts: [failedFact('runtime_error')],
  });
}

/** A route that the handler gave back as it was needs nobody's leave. */
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

function frameDispatch(envelope: ArrivedEnvelope, frame: Frame, index: number, context: Context): Dispatch {
  const { actor, now } = context;
  const route = shiftRoute(envelope.route, frame.next ?? envelope.route.next);
  const isAtEnd = route.curr === '';
  const status = isAtEnd
    ? statusAfter(envelope.status, { phase: 'succeeded', reason: 'Completed', actor: actor.name, now })
    : statusAfter(envelope.status, { phase: 'pending', actor: actor.name, now });
  const sent: Envelope = {
    ...envelope,
    ...(index === 0 ? {} : childIdentity(envelope, index, context)),
    route,
    headers:
      frame.headers === undefined ? envelope.headers : headersFromHandler(envelope.headers, frame.headers),
    payload: frame.payload,
    status,
  };
  return isAtEnd ? dispatchOf(actor.sink, 'sink', sent) : dispatchOf(route.curr, 'next', sent);
}

/** The same on every redelivery, so that a repeated delivery repeats its children and makes no others. */
function childIdentity(
  envelope: Envelope,
  index: number,
  context: Context,
): { id: string; parent_id: string } {
  const id = context.deriveId('fan-out', envelope.id, context.actor.name, hopOf(envelope.route), index);
  return { id, parent_id: envelope.id };
}
