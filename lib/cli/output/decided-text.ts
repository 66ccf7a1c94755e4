import type { Envelope } from '../../core/envelope/envelope.ts';
import type { Failure } from '../../core/failure/failure.ts';
import { isFields } from '../../core/text/fields.ts';
import { oneLine } from './plain-text.ts';

/** Who decided that an envelope failed, in words: a policy and the rule that named it, or whatever else. */
export function decidedText(envelope: Envelope | undefined, failure: Failure): string {
  const { reason, errorType } = failure;
  const by = envelope?.status?.decided_by;
  if (isFields(by)) {
    const policy = policyText(by['policy'], by['rule']);
    return `${policy}${unlikeThePolicy(failure, envelope?.status?.max_attempts)}`;
  }
  const known = OF_REASON.get(reason);
  if (known !== undefined) return known;
  if (envelope === undefined) return 'not known without the envelope';
  if (reason !== 'RuntimeError') return 'the envelope does not say';
  return OF_ERROR.get(errorType) ?? 'no policy: none covered it';
}

function policyText(policy: unknown, rule: unknown): string {
  const name = `policy "${oneLine(String(policy), 60)}"`;
  if (typeof rule === 'number') return `${name}, named by rule ${rule + 1}`;
  return policy === 'default' ? `${name}: no rule matched` : `${name}, which is built in: no rule matched`;
}

/** The policy wanted another attempt, and something else had the last word. */
function unlikeThePolicy({ reason, attempts }: Failure, most: unknown): string {
  if (reason === 'Timeout') return '; its retry would have come after the deadline (SLA)';
  const hasMore = typeof most !== 'number' || attempts < most;
  return reason === 'RuntimeError' && hasMore ? '; its retry could not be sent' : '';
}

/** Ends that no policy is asked about. */
const OF_REASON: ReadonlyMap<string, string> = new Map([
  ['Timeout', 'the deadline (SLA)'],
  ['ActorTimeout', "the actor's timeout; no rule takes it"],
  ['ParseError', 'admission: it could not be read'],
  ['ValidationError', 'admission, or a handler that broke the rules'],
  ['RouteMismatch', 'admission: it was at the wrong actor'],
  ['DeliveryExhausted', 'the broker: received again and again, never acked'],
]);

const OF_ERROR: ReadonlyMap<string, string> = new Map([
  ['HopBudgetExceeded', 'admission: it had passed as many actors as it may (ASYA_MAX_HOPS)'],
  ['PayloadTooLarge', "a limit: the handler's answer was too large to be read or sent"],
]);
