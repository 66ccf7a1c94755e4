import type { FailedReason, Result } from '../../core/delivery/plan.ts';
import type { Envelope } from '../../core/envelope/envelope.ts';
import { actorTimeoutFault, connectionFault, type Fault } from '../../core/envelope/fault.ts';
import { headerText, NOT_BEFORE } from '../../core/envelope/headers.ts';
import { deadlineMs } from '../../core/envelope/status.ts';
import { isFields } from '../../core/text/fields.ts';
import { instantMs } from '../../core/text/timestamp.ts';
import { delayBehind, exhaustionBehind, policyBehind } from './explain-policy.ts';
import type { Delivered } from './simulated-delivery.ts';
import type { Decision } from './simulation.ts';

/**
 * Why the line did what it did, read from the facts it told and the envelopes it sent. Nothing is decided here a second
 * time: what the facts leave out (which limit ran out, what a delay is made of) is asked of the core's own functions.
 */
export function explainDecision(delivered: Delivered, startMs: number): Decision {
  const { line, sent, settle, problem = '' } = delivered;
  const [dispatch] = sent;
  if (settle === 'release') return { kind: 'released', problem };
  if (line.actor.crew?.role === 'sink') return { kind: 'kept', isForSump: dispatch !== undefined };
  if (dispatch === undefined) return { kind: 'entered' };
  const { envelope, to } = dispatch;
  const told = wordsIn(delivered);
  if (told.has('deferred')) return { kind: 'waits', dueMs: dueAt(envelope) - startMs };
  if (told.has('success') || told.has('empty_response')) return { kind: 'passes', to };
  const reason = String(envelope.status?.reason);
  if (told.has('retry_send_failed')) return { kind: 'failed', reason, problem };
  const byPolicy = explainPolicy(delivered, envelope, told);
  if (byPolicy !== undefined) return byPolicy;
  if (told.has('sla_expired')) {
    return delivered.call === undefined
      ? { kind: 'expired', leftMs: leftAt(delivered.decidedAt, envelope) }
      : { kind: 'cut-off' };
  }
  if (told.has('policy_routed')) return { kind: 'routed', to };
  if (told.has('error')) return { kind: 'uncovered', reason };
  return { kind: 'failed', reason, problem: messageOf(envelope) };
}

/** Undefined where no policy was asked. */
function explainPolicy(
  delivered: Delivered,
  envelope: Envelope,
  told: ReadonlySet<string>,
): Decision | undefined {
  const { facts, line, decidedAt } = delivered;
  const fact = facts.find((one) => one.fact === 'policy');
  const fault = faultOfCall(delivered.call);
  if (fact === undefined || fault === undefined) return undefined;
  const { by, policy } = policyBehind(fact, line.actor, fault);
  if (told.has('retried')) return { kind: 'retries', by, ...delayBehind(delivered, policy, fault) };
  if (!told.has('sla_expired')) return exhaustionBehind(delivered, by, policy, envelope);
  const delay = delayBehind(delivered, policy, fault);
  return {
    kind: 'retries-too-late',
    by,
    leftMs: leftAt(decidedAt + delay.delayMs, envelope),
    ...delay,
  };
}

/** What a rule sees of how a call ended; undefined where nothing went wrong. */
export function faultOfCall(call: Delivered['call']): Fault | undefined {
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

function wordsIn({ facts }: Delivered): ReadonlySet<Result | FailedReason> {
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
