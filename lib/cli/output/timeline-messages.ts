import type {
  AppliedPolicy,
  Decision,
  SimulatedCall,
  SimulatedStep,
} from '../../app/simulation/simulation.ts';
import { retryAfterMs } from '../../core/policy/policy-delay.ts';
import { spanText } from './times.ts';

/** What happened at an actor: the outcome of the call, or why there was none. */
export function happenedText({ call, decision }: SimulatedStep): string {
  if (call !== undefined) return callText(call);
  switch (decision.kind) {
    case 'kept':
      return 'records the end';
    case 'entered':
      return 'indexes the failure';
    case 'waits':
      return 'not due yet';
    default:
      return 'not called';
  }
}

function callText({ outcome, tookMs, fault }: SimulatedCall): string {
  switch (outcome) {
    case 'value':
      return `value${after(tookMs)}`;
    case 'timeout':
      return `no answer within ${spanText(tookMs)}, runtime killed`;
    case 'connection':
      return `connection lost${after(tookMs)}`;
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
      return sends[0]?.type === 'sink' ? `end of route → ${decision.to}` : `→ ${decision.to}`;
    case 'retries':
      return `${byText(decision.by)}: retry in ${delayText(decision)}${roundingText(decision, sends)}`;
    case 'retries-too-late':
      return `${byText(decision.by)}: a retry in ${delayText(decision)} would arrive ${remainingText(decision.leftMs)} → x-sink, Timeout`;
    case 'exhausted':
      return exhaustedText(decision);
    case 'uncovered':
      return decision.reason === 'ActorTimeout'
        ? 'no rule matches a timeout, and the default policy never retries one → x-sink, ActorTimeout'
        : `no rule matches, and no default is set → x-sink, ${decision.reason}`;
    case 'routed':
      return `header _on_error → ${decision.to}`;
    case 'expired':
      return `arrived ${remainingText(decision.leftMs)} → x-sink, Timeout`;
    case 'cut-off':
      return 'the deadline passed during the call → x-sink, Timeout';
    case 'waits':
      return `due at ${atText(decision.dueMs)}: resent, no attempt counted`;
    case 'kept':
      return decision.isForSump ? 'failed → x-sump' : '';
    case 'entered':
      return '';
    case 'failed':
      return `${decision.problem} → x-sink, ${decision.reason}`;
    case 'released':
      return `not acked: ${decision.problem}`;
  }
}

export function atText(milliseconds: number): string {
  return `t+${spanText(milliseconds)}`;
}

function byText({ policy, rule, pattern, isBuiltIn }: AppliedPolicy): string {
  const name = `${isBuiltIn ? 'built-in ' : ''}policy "${policy}"`;
  if (rule !== undefined) return `rule ${rule + 1} (${pattern}), ${name}`;
  return isBuiltIn ? `no rule matches and no default, ${name}` : `no rule matches, ${name}`;
}

function delayText({
  delayMs,
  retryAfterMs: requestedMs,
  hasJitter,
}: Extract<Decision, { delayMs: number }>): string {
  if (requestedMs === undefined) return `${spanText(delayMs)}${hasJitter ? ' (with jitter)' : ''}`;
  return `${spanText(delayMs)} (${requestedMs > delayMs ? 'retry_after, capped by maxInterval' : 'retry_after'})`;
}

/** How SQS changes a delay: it counts whole seconds, up to 15 minutes per send. */
function roundingText({ delayMs }: { readonly delayMs: number }, [retry]: SimulatedStep['sends']): string {
  if (retry === undefined || retry.delayMs < delayMs)
    return `, in steps of ${spanText(retry?.delayMs ?? 0)}, the maximum of SQS`;
  return delayMs % 1_000 === 0
    ? ''
    : `, rounded up to ${spanText(Math.ceil(delayMs / 1_000) * 1_000)} by SQS`;
}

function remainingText(leftMs: number): string {
  return leftMs < 0
    ? `${spanText(-leftMs)} after the deadline`
    : `${spanText(leftMs)} before the deadline (less than 1s)`;
}

function exhaustedText(decision: Extract<Decision, { kind: 'exhausted' }>): string {
  const { by, ranOut, limitMs = 0, onExhausted, reason } = decision;
  const cause = ranOut === 'attempts' ? attemptsText(by) : `${ranOut} of ${spanText(limitMs)} exceeded`;
  const text = `${byText(by)}: ${cause}`;
  switch (onExhausted.action) {
    case 'sink':
      return `${text} → x-sink, ${reason}`;
    case 'drop':
      return `${text}, drop → x-sink, ${reason}`;
    case 'escalate':
      return `${text}, escalate → ${onExhausted.topic} and x-sink, ${reason}`;
    case 'route':
      return `${text}, onExhausted → ${onExhausted.actors.join(', then ')}`;
  }
}

function attemptsText({ maxAttempts }: AppliedPolicy): string {
  return maxAttempts === 1 ? 'only 1 attempt allowed' : `${maxAttempts} of ${maxAttempts} attempts used`;
}
