import { endActorOf, isForSump } from '../envelope/end.ts';
import type { Envelope } from '../envelope/envelope.ts';
import { actorTimeoutFault, connectionFault, faultOf } from '../envelope/fault.ts';
import { type ArrivedEnvelope, arrive, statusAfter } from '../envelope/status.ts';
import { timestampText } from '../text/timestamp.ts';
import type { Call, EndActorCall, Rejected } from './admit.ts';
import type { Context } from './context.ts';
import { type FailureDetails, planFailure } from './decide-failure.ts';
import { planFault } from './decide-fault.ts';
import { planFrames, planTooLarge } from './decide-frames.ts';
import { planDeferral, planResend } from './decide-resend.ts';
import type { CallResult, Outcome } from './outcome.ts';
import {
  ackAfter,
  dispatchOf,
  type Fact,
  failedFact,
  type Plan,
  type RuntimeErrorType,
  releaseWith,
  resultFact,
} from './plan.ts';

/**
 * The decision: from what happened to a delivery (the outcome) to what to do with it (the plan). Pure and total: there
 * is a plan for every outcome.
 */
export function decide(outcome: Outcome, context: Context): Plan {
  if (outcome.kind !== 'called') return decideRejected(outcome, context);
  return outcome.call.kind === 'call'
    ? decideCall(outcome.call, outcome.end, context)
    : decideEndCall(outcome.call, outcome.end, context);
}

function decideRejected(outcome: Rejected, context: Context): Plan {
  const { actor, now } = context;
  switch (outcome.kind) {
    case 'unreadable':
      return decideUnreadable(outcome, context);
    case 'canceled':
      return ackAfter([dispatchOf(actor.sink, 'sink', outcome.envelope)], [resultFact('canceled')]);
    case 'route-mismatch':
      return planFailure(outcome.envelope, context, {
        reason: 'RouteMismatch',
        fault: faultOf(
          'RouteMismatch',
          `route.curr is "${outcome.envelope.route.curr}"; this actor is "${actor.name}"`,
        ),
        facts: [failedFact('route_mismatch')],
      });
    case 'not-due':
      return planDeferral(outcome.envelope, outcome.dueMs, context);
    case 'hop-budget-exceeded':
      return planFailure(outcome.envelope, context, {
        reason: 'RuntimeError',
        fault: faultOf(
          'HopBudgetExceeded',
          `the envelope has passed ${outcome.envelope.route.prev.length} actors; ASYA_MAX_HOPS allows ${actor.maxHops}`,
        ),
        facts: [failedFact('runtime_error')],
      });
    case 'expired':
      return planFailure(
        outcome.envelope,
        context,
        deadlineFailure(outcome.envelope.status.deadline_at, now),
      );
    case 'host-out-of-time':
      return planResend(outcome.envelope, context);
  }
}

/** An unreadable message goes to x-sink. An end actor releases it, so that it gets into the broker's dead-letter queue. */
function decideUnreadable(outcome: Extract<Rejected, { kind: 'unreadable' }>, context: Context): Plan {
  const facts = [failedFact(outcome.reason === 'ParseError' ? 'parse_error' : 'validation_error')];
  if (context.actor.isEnd) return releaseWith(facts);
  const { reason, problem } = outcome;
  const marked = { ...outcome.envelope, status: { ...outcome.envelope.status, unreadable: true } };
  const envelope = arrive(marked, context.actor.name, context.now);
  return planFailure(envelope, context, { reason, fault: faultOf(reason, problem), facts });
}

function decideCall(call: Call, end: CallResult, context: Context): Plan {
  const { envelope } = call;
  switch (end.kind) {
    case 'frames':
      return end.frames.length === 0
        ? planEmpty(envelope, context)
        : planFrames(envelope, end.frames, context);
    case 'empty':
      return planEmpty(envelope, context);
    case 'too-large':
      return planTooLarge(envelope, end.detail, context);
    case 'fault':
      return planFault(envelope, end.fault, 'execution', context);
    case 'unreachable':
      return planFault(envelope, connectionFault(end.detail), 'connection', context);
    case 'timeout':
      return call.boundBy === 'deadline'
        ? planFailure(envelope, context, deadlineFailure(envelope.status.deadline_at, context.now))
        : planFault(envelope, actorTimeoutFault(call.timeoutMs), 'timeout', context);
    case 'interrupted':
      return planResend(call.original, context);
  }
}

/** The runtime returned no value: the envelope ends successfully, with its original payload. */
function planEmpty(envelope: ArrivedEnvelope, { actor, now }: Context): Plan {
  const status = statusAfter(envelope.status, {
    phase: 'succeeded',
    reason: 'Completed',
    actor: actor.name,
    now,
  });
  return ackAfter([dispatchOf(actor.sink, 'sink', { ...envelope, status })], [resultFact('empty_response')]);
}

function decideEndCall(call: EndActorCall, end: CallResult, context: Context): Plan {
  switch (end.kind) {
    case 'frames':
    case 'empty':
    // The handler has done its work, and its answer would be discarded anyway.
    case 'too-large':
      return planConsumed(call.envelope, context);
    case 'fault':
      return releaseAfterError('execution');
    case 'unreachable':
      return releaseAfterError('connection');
    case 'timeout':
      return releaseAfterError('timeout');
    case 'interrupted':
      return planResend(call.original, context);
  }
}

/** The end actor has processed the envelope. x-sink forwards failed ones; x-sump and x-dlq count recorded failures. */
function planConsumed(envelope: Envelope, { actor }: Context): Plan {
  const facts = [resultFact('end_consumed')];
  switch (actor.crew?.role) {
    case 'sink':
      return ackAfter(isForSump(envelope) ? [dispatchOf(actor.crew.sump, 'sump', envelope)] : [], facts);
    case 'sump':
    case 'dlq':
      return ackAfter([], [...facts, failureFact(envelope)]);
    case undefined:
      return ackAfter([], facts);
  }
}

function failureFact(envelope: Envelope): Fact {
  const { reason } = envelope.status ?? {};
  return {
    fact: 'failure',
    actor: endActorOf(envelope),
    reason: typeof reason === 'string' ? reason : 'unknown',
  };
}

function releaseAfterError(errorType: RuntimeErrorType): Plan {
  return releaseWith([resultFact('error'), { fact: 'runtime-error', errorType }]);
}

function deadlineFailure(deadline: string | undefined, now: number): FailureDetails {
  return {
    reason: 'Timeout',
    fault: faultOf('DeadlineExceeded', `the deadline was ${deadline}; it is now ${timestampText(now)}`),
    facts: [resultFact('sla_expired'), failedFact('sla_timeout')],
  };
}
