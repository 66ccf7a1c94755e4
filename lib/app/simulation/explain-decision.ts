import type { FailedReason, Result } from '../../core/delivery/plan.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import { actorTimeoutFault, connectionFault, type Fault } from '../../core/envelope/fault.ts';
import { headerText, NOT_BEFORE } from '../../core/envelope/headers.ts';
import { deadlineMs } from '../../core/envelope/status.ts';
import { isFields } from '../../core/text/fields.ts';
import { instantMs } from '../../core/text/timestamp.ts';
import { explainDelay, explainExhaustion, explainMatch } from './explain-policy.ts';
import type { ObservedDelivery } from './simulated-delivery.ts';
import type { Decision } from './simulation.ts';

/**
 * Explains a decision of the line from the facts it reported and the envelopes it sent. It does not decide anything
 * itself: what the facts leave out (which limit was reached, how a delay was computed) comes from the core's functions.
 */
export function explainDecision(delivered: ObservedDelivery, startMs: number): Decision {
  const { line, sent, settle, problem = '' } = delivered;
  const [dispatch] = sent;
  if (settle === 'release') return { kind: 'released', problem };
  if (line.actor.crew?.role === 'sink') return { kind: 'kept', isForSump: dispatch !== undefined };
  if (dispatch === undefined) return { kind: 'entered' };
  const { envelope, to } = dispatch;
  const results = resultsOf(delivered);
  if (results.has('deferred')) return { kind: 'waits', dueMs: dueAt(envelope) - startMs };
  if (results.has('success') || results.has('empty_response')) return { kind: 'passes', to };
  const reason = String(envelope.status?.reason);
  if (results.has('retry_send_failed')) return { kind: 'failed', reason, problem };
  const byPolicy = explainPolicy(delivered, envelope, results);
  if (byPolicy !== undefined) return byPolicy;
  if (results.has('sla_expired')) {
    return delivered.call === undefined
      ? { kind: 'expired', leftMs: leftAt(delivered.decidedAt, envelope) }
      : { kind: 'cut-off' };
  }
  if (results.has('policy_routed')) return { kind: 'routed', to };
  if (results.has('error')) return { kind: 'uncovered', reason };
  return { kind: 'failed', reason, problem: messageOf(envelope) };
}

/** Undefined if no policy was applied. */
function explainPolicy(
  delivered: ObservedDelivery,
  envelope: Envelope,
  results: ReadonlySet<string>,
): Decision | undefined {
  const { facts, line, decidedAt } = delivered;
  const fact = facts.find((one) => one.fact === 'policy');
  const fault = faultOfCall(delivered.call);
  if (fact === undefined || fault === undefined) return undefined;
  const { by, policy } = explainMatch(fact, line.actor, fault);
  if (results.has('retried')) return { kind: 'retries', by, ...explainDelay(delivered, policy, fault) };
  if (!results.has('sla_expired')) return explainExhaustion(delivered, by, policy, envelope);
  const delay = explainDelay(delivered, policy, fault);
  return {
    kind: 'retries-too-late',
    by,
    leftMs: leftAt(decidedAt + delay.delayMs, envelope),
    ...delay,
  };
}

/** The error that rules are matched against. Undefined if the call succeeded. */
export function faultOfCall(call: ObservedDelivery['call']): Fault | undefined {
  switch (call?.end.kind) {
    case 'fault':
      return call.end.fault;
    case 'unreachable':
      return connectionFault(call.end.detail);
    case 'timeout':
      return actorTimeoutFault(call.timeoutMs);
    default:
      return undefined;
  }
}

function resultsOf({ facts }: ObservedDelivery): ReadonlySet<Result | FailedReason> {
  return new Set(
    facts.flatMap((fact) =>
      fact.fact === 'result' ? [fact.result] : fact.fact === 'failed' ? [fact.reason] : [],
    ),
  );
}

function dueAt({ headers }: Envelope): number {
  return instantMs(headerText(headers, NOT_BEFORE)) ?? 0;
}

function leftAt(at: number, envelope: Envelope): number {
  return (deadlineMs(envelope) ?? 0) - at;
}

function messageOf({ status }: Envelope): string {
  return isFields(status?.error) ? String(status.error['message']) : '';
}
