import type { Envelope } from '../../core/envelope/envelope.ts';
import type { Failure } from '../../core/failure/failure.ts';
import { isFields } from '../../core/text/fields.ts';
import { oneLine } from './plain-text.ts';

/** What decided that an envelope failed: a policy and the rule that chose it, or for example admission or a limit. */
export function decidedByText(envelope: Envelope | undefined, failure: Failure): string {
  const { reason, errorType } = failure;
  const by = envelope?.status?.decided_by;
  if (isFields(by)) {
    const policy = policyText(by['policy'], by['rule']);
    return `${policy}${overrideText(failure, envelope?.status?.max_attempts)}`;
  }
  const known = BY_REASON.get(reason);
  if (known !== undefined) return known;
  if (envelope === undefined) return 'unknown: the envelope cannot be read';
  if (reason !== 'RuntimeError') return 'unknown: the envelope has no status.decided_by';
  return BY_ERROR.get(errorType) ?? 'no policy: none matched the error';
}

function policyText(policy: unknown, rule: unknown): string {
  const name = `policy "${oneLine(String(policy), 60)}"`;
  if (typeof rule === 'number') return `${name}, chosen by rule ${rule + 1}`;
  return policy === 'default' ? `${name}: no rule matched` : `${name} (built in): no rule matched`;
}

/** Why the envelope failed although the policy allowed another attempt. */
function overrideText({ reason, attempts }: Failure, maxAttempts: unknown): string {
  if (reason === 'Timeout') return '; the retry would have missed the deadline (SLA)';
  const hasMore = typeof maxAttempts !== 'number' || attempts < maxAttempts;
  return reason === 'RuntimeError' && hasMore ? '; the retry could not be sent' : '';
}

/** Reasons that do not involve a policy. */
const BY_REASON: ReadonlyMap<string, string> = new Map([
  ['Timeout', 'the deadline (SLA)'],
  ['ActorTimeout', "the actor's timeout: no rule matched it"],
  ['ParseError', 'admission: the message is not valid JSON'],
  ['ValidationError', 'validation: the envelope, or what the handler returned, is not valid'],
  ['RouteMismatch', 'admission: the envelope reached the wrong actor'],
  ['DeliveryExhausted', 'the broker: received the maximum number of times without an acknowledgement'],
]);

const BY_ERROR: ReadonlyMap<string, string> = new Map([
  ['HopBudgetExceeded', 'admission: the envelope passed the maximum number of actors (ASYA_MAX_HOPS)'],
  ['PayloadTooLarge', "a size limit: the handler's answer was too large to read or send"],
]);
