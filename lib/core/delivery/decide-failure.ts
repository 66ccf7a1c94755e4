import { encode } from '../envelope/encode.ts';
import type { Envelope, Reason, StatusError } from '../envelope/envelope.ts';
import { type Fault, statusErrorFromFault } from '../envelope/fault.ts';
import { type DecidedBy, statusAfter } from '../envelope/status.ts';
import { defined } from '../text/defined.ts';
import { exceedsUtf8Bytes, headWithinUtf8 } from '../text/utf8.ts';
import type { Context } from './context.ts';
import { ackAfter, type Dispatch, type DispatchType, dispatchOf, type Fact, type Plan } from './plan.ts';

/** Why an envelope failed, and the facts about it. */
export interface FailureDetails {
  readonly reason: Reason;
  readonly fault: Fault;
  readonly facts: readonly Fact[];
  readonly maxAttempts?: number;
  readonly decidedBy?: DecidedBy;
}

/** Sends the failed envelope to x-sink. Its payload is unchanged, so that it can be inspected and replayed. */
export function planFailure(envelope: Envelope, context: Context, failure: FailureDetails): Plan {
  return ackAfter([failureDispatch(context.actor.sink, 'sink', envelope, context, failure)], failure.facts);
}

/** A send of the failed envelope, with the error in its status. */
export function failureDispatch(
  to: string,
  type: DispatchType,
  envelope: Envelope,
  context: Context,
  failure: Omit<FailureDetails, 'facts'>,
): Dispatch {
  const { reason, fault, maxAttempts, decidedBy } = failure;
  const change = {
    phase: 'failed' as const,
    reason,
    actor: context.actor.name,
    now: context.now,
    error: statusErrorFromFault(fault),
    ...defined({ maxAttempts, decidedBy }),
  };
  const failed = { ...envelope, status: statusAfter(envelope.status, change) };
  return dispatchOf(to, type, withFittingError(failed, change.error, context));
}

const SHORT_MESSAGE_BYTES = 1024;

/**
 * Shortens the error if the envelope is too large for the transport with it: a payload near the limit must not be lost
 * because of its error. First the traceback and the cause are removed, then `mro` and the end of the message, then the whole message.
 */
export function withFittingError(envelope: Envelope, error: StatusError, context: Context): Envelope {
  const { limits, countBytes } = context;
  const fits = (candidate: Envelope) => !exceedsUtf8Bytes(encode(candidate), limits.maxBodyBytes, countBytes);
  if (fits(envelope)) return envelope;
  const { cause: _cause, ...status } = envelope.status ?? {};
  const withError = (short: StatusError): Envelope => ({ ...envelope, status: { ...status, error: short } });
  const { type, mro, message } = error;
  const noTraceback = withError({ type, mro, message, traceback: '' });
  if (fits(noTraceback)) return noTraceback;
  const shortMessage = headWithinUtf8(message, SHORT_MESSAGE_BYTES);
  const shortened = withError({ type, mro: [], message: shortMessage, traceback: '' });
  return fits(shortened) ? shortened : withError({ type, mro: [], message: '', traceback: '' });
}
