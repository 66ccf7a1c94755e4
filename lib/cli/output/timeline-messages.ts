import type {
  AppliedPolicy,
  Decision,
  Delay,
  SimulatedCall,
  SimulatedStep,
} from '../../app/simulation/simulation.ts';
import {
  FAILED_TEXTS,
  FAILURE_RECORDED,
  NOT_ACKNOWLEDGED,
  nextAttemptText,
  pauseText,
  policyText,
  RESULT_TEXTS,
  reasonText,
} from '../../core/delivery/event-text.ts';
import { CONNECTION_ERROR } from '../../core/envelope/fault.ts';
import { retryAfterMs } from '../../core/policy/policy-delay.ts';
import { spanText } from './times.ts';

/** What happened at an actor: the outcome of the call, or why there was none. */
export function happenedText({ call, decision }: SimulatedStep): string {
  if (call !== undefined) return callText(call, decision);
  switch (decision.kind) {
    case 'kept':
      return RESULT_TEXTS.end_consumed;
    case 'entered':
      return FAILURE_RECORDED;
    case 'waits':
      return RESULT_TEXTS.deferred;
    default:
      return 'not called';
  }
}

function callText({ outcome, tookMs, fault }: SimulatedCall, { kind }: Decision): string {
  switch (outcome) {
    case 'value':
      return `value${after(tookMs)}`;
    case 'timeout':
      return `${kind === 'cut-off' ? '' : 'ActorTimeout: '}no answer within ${spanText(tookMs)}, runtime killed`;
    case 'connection':
      return `${CONNECTION_ERROR}${after(tookMs)}`;
    case 'error': {
      const status = fault?.httpStatus === undefined ? '' : ` ${fault.httpStatus}`;
      const pauseMs = retryAfterMs(fault?.retryAfter, 0);
      const pause = pauseMs === undefined ? '' : `, retry_after ${spanText(pauseMs)}`;
      return `${fault?.type}${status}${after(tookMs)}${pause}`;
    }
  }
}

function after(tookMs: number): string {
  return tookMs === 0 ? '' : ` after ${spanText(tookMs)}`;
}

/** The decision, and the reason for it. */
export function whyText({ decision, sends }: SimulatedStep): string {
  switch (decision.kind) {
    case 'passes':
      return sends[0]?.type === 'sink'
        ? `${RESULT_TEXTS.success}, end of route → ${decision.to}`
        : `${RESULT_TEXTS.success} → ${decision.to}`;
    case 'retries':
      return `${policyText(decision.by)}: ${RESULT_TEXTS.retried}, ${nextAttemptText(decision.delayMs)}${delayNote(decision)}${roundingText(decision, sends)}`;
    case 'retries-too-late':
      return `${policyText(decision.by)}: ${RESULT_TEXTS.sla_expired}, a retry in ${pauseText(decision.delayMs)}${delayNote(decision)} would arrive ${remainingText(decision.leftMs)} → x-sink, Timeout`;
    case 'exhausted':
      return exhaustedText(decision);
    case 'uncovered':
      return decision.reason === 'ActorTimeout'
        ? `${FAILED_TEXTS.timeout}: no rule matches a timeout, and the default policy never retries one → x-sink, ActorTimeout`
        : `${FAILED_TEXTS.runtime_error}, and no default is set → x-sink, ${decision.reason}`;
    case 'routed':
      return `${RESULT_TEXTS.policy_routed} by header _on_error → ${decision.to}`;
    case 'expired':
      return `${RESULT_TEXTS.sla_expired}, arrived ${remainingText(decision.leftMs)} → x-sink, Timeout`;
    case 'cut-off':
      return `${RESULT_TEXTS.sla_expired}, the deadline passed during the call → x-sink, Timeout`;
    case 'waits':
      return `due at ${atText(decision.dueMs)}: resent, no attempt counted`;
    case 'kept':
      return decision.isForSump ? 'failed → x-sump' : '';
    case 'entered':
      return '';
    case 'failed':
      return `${reasonText(decision.reason)}: ${decision.problem} → x-sink`;
    case 'released':
      return `${NOT_ACKNOWLEDGED}: ${decision.problem}`;
  }
}

export function atText(milliseconds: number): string {
  return `t+${spanText(milliseconds)}`;
}

/** What determined the delay, if it was not the policy alone. */
function delayNote({ delayMs, retryAfterMs: requestedMs, hasJitter }: Delay): string {
  if (requestedMs === undefined) return hasJitter ? ' (with jitter)' : '';
  return requestedMs > delayMs ? ' (retry_after, capped by maxInterval)' : ' (retry_after)';
}

/** How SQS changes a delay: it counts whole seconds, up to 15 minutes per send. */
function roundingText({ delayMs }: Delay, [retry]: SimulatedStep['sends']): string {
  if (retry === undefined || retry.delayMs < delayMs)
    return `, in steps of ${pauseText(retry?.delayMs ?? 0)}, the maximum of SQS`;
  return delayMs % 1_000 === 0
    ? ''
    : `, rounded up to ${pauseText(Math.ceil(delayMs / 1_000) * 1_000)} by SQS`;
}

function remainingText(leftMs: number): string {
  return leftMs < 0
    ? `${spanText(-leftMs)} after the deadline`
    : `${spanText(leftMs)} before the deadline (less than 1 s)`;
}

function exhaustedText(decision: Extract<Decision, { kind: 'exhausted' }>): string {
  const { by, ranOut, limitMs = 0, onExhausted, reason } = decision;
  const cause = ranOut === 'attempts' ? attemptsText(by) : `${ranOut} of ${spanText(limitMs)} exceeded`;
  const text = (event: string) => `${policyText(by)}: ${event}, ${cause}`;
  switch (onExhausted.action) {
    case 'sink':
      return `${text(FAILED_TEXTS.policy_exhausted)} → x-sink, ${reason}`;
    case 'drop':
      return `${text(RESULT_TEXTS.dropped)} → x-sink, ${reason}`;
    case 'escalate':
      return `${text(RESULT_TEXTS.escalated)} → ${onExhausted.topic} and x-sink, ${reason}`;
    case 'route':
      return `${text(RESULT_TEXTS.policy_routed)} → ${onExhausted.actors.join(', then ')}`;
  }
}

function attemptsText({ maxAttempts }: AppliedPolicy): string {
  return maxAttempts === 1 ? 'only 1 attempt allowed' : `${maxAttempts} of ${maxAttempts} attempts used`;
}
