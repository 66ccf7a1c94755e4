import type { By, Decision, SimulatedCall, SimulatedStep } from '../../../app/simulation/simulation.ts';
import { retryAfterMs } from '../../../core/policy/policy-delay.ts';
import { spanText } from '../../output/times.ts';

/** What happened at an actor, in a few words. */
export function happenedText({ call, decision }: SimulatedStep): string {
  if (call !== undefined) return callWords(call);
  switch (decision.kind) {
    case 'kept':
      return 'records its end';
    case 'entered':
      return 'enters the failure';
    case 'waits':
      return 'not yet due';
    default:
      return 'not called';
  }
}

function callWords({ outcome, tookMs, fault }: SimulatedCall): string {
  switch (outcome) {
    case 'value':
      return `a value${after(tookMs)}`;
    case 'timeout':
      return `no answer in ${spanText(tookMs)}, killed`;
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

/** Why what followed did. */
export function whyText({ decision, sends }: SimulatedStep): string {
  switch (decision.kind) {
    case 'passes':
      return sends[0]?.type === 'sink' ? `the route ends → ${decision.to}` : `→ ${decision.to}`;
    case 'retries':
      return `${byWords(decision.by)}: retry in ${delayWords(decision)}${heldWords(decision, sends)}`;
    case 'retries-too-late':
      return `${byWords(decision.by)}: a retry in ${delayWords(decision)} would arrive ${leftWords(decision.leftMs)} → x-sink, Timeout`;
    case 'exhausted':
      return exhaustedWords(decision);
    case 'uncovered':
      return decision.reason === 'ActorTimeout'
        ? 'no rule takes a timeout, and the default never retries one → x-sink, ActorTimeout'
        : `no rule takes it, and there is no default → x-sink, ${decision.reason}`;
    case 'routed':
      return `header _on_error → ${decision.to}`;
    case 'expired':
      return `it arrived ${leftWords(decision.leftMs)} → x-sink, Timeout`;
    case 'cut-off':
      return 'the deadline came during the call → x-sink, Timeout';
    case 'waits':
      return `due at ${atText(decision.dueMs)}: sent again, no attempt counted`;
    case 'kept':
      return decision.isForSump ? 'it failed → x-sump' : '';
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

function byWords({ policy, rule, pattern, isBuiltIn }: By): string {
  const name = `${isBuiltIn ? 'built-in ' : ''}policy "${policy}"`;
  if (rule !== undefined) return `rule ${rule + 1} (${pattern}), ${name}`;
  return isBuiltIn ? `no rule and no default, ${name}` : `no rule, ${name}`;
}

function delayWords({
  delayMs,
  retryAfterMs: asked,
  hasJitter,
}: Extract<Decision, { delayMs: number }>): string {
  if (asked === undefined) return `${spanText(delayMs)}${hasJitter ? ', jitter included' : ''}`;
  return `${spanText(delayMs)}, ${asked > delayMs ? 'as maxInterval caps the retry_after' : 'as retry_after asks'}`;
}

/** What the broker makes of a delay where that is not what was asked for. */
function heldWords({ delayMs }: { readonly delayMs: number }, [retry]: SimulatedStep['sends']): string {
  if (retry === undefined || retry.delayMs < delayMs)
    return `, in pieces of ${spanText(retry?.delayMs ?? 0)}: SQS can no more`;
  return delayMs % 1_000 === 0 ? '' : `, ${spanText(Math.ceil(delayMs / 1_000) * 1_000)} on SQS`;
}

function leftWords(leftMs: number): string {
  return leftMs < 0
    ? `${spanText(-leftMs)} after the deadline`
    : `${spanText(leftMs)} before the deadline, and less than 1s is not enough`;
}

function exhaustedWords(decision: Extract<Decision, { kind: 'exhausted' }>): string {
  const { by, ranOut, limitMs = 0, onExhausted, reason } = decision;
  const cause = ranOut === 'attempts' ? attemptsWords(by) : `its ${ranOut} of ${spanText(limitMs)} is over`;
  const so = `${byWords(by)}: ${cause}`;
  switch (onExhausted.action) {
    case 'sink':
      return `${so} → x-sink, ${reason}`;
    case 'drop':
      return `${so}, drop → x-sink, ${reason}`;
    case 'escalate':
      return `${so}, escalate → ${onExhausted.topic} and x-sink, ${reason}`;
    case 'route':
      return `${so}, onExhausted → ${onExhausted.actors.join(', then ')}`;
  }
}

function attemptsWords({ maxAttempts }: By): string {
  return maxAttempts === 1 ? 'one attempt is all' : `${maxAttempts} of ${maxAttempts} attempts made`;
}
